import { mkdirSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import { expect, onTestFinished, test } from "vitest";
import { createTempDir } from "../../../../testing/temp-dir.ts";
import { containerSettings, LABELS } from "../../src/sandbox/docker/container-settings.ts";

const MIB = 1024 * 1024;
const limits = {
  ...{ timeout_ms: 1_000, output_bytes: MIB, processes: 8, memory_bytes: 64 * MIB, cpus: 1 },
  ...{ file_bytes: MIB, workspace_bytes: MIB, temporary_bytes: MIB },
};

test("a container stays that of its folder whatever is written there, and is no longer that of one made anew", async () => {
  const dir = createTempDir();
  onTestFinished(dir.remove);
  await delay(20); // of one that is a moment old, not of one from the same tick of the clock
  const folder = join(dir.path, "session");
  const settings = () => {
    const workspace = { folder, paths: { protected: [], hidden: [] } };
    return containerSettings({ session_id: "s", workspace, limits, docker: {}, user: { uid: 1000, gid: 1000 } })
      .Labels?.[LABELS.settings];
  };
  mkdirSync(folder);
  const first = settings();
  await delay(20);
  writeFileSync(join(folder, "a.txt"), "");
  expect(settings()).toBe(first);
  rmSync(folder, { recursive: true });
  await delay(20);
  mkdirSync(folder);
  expect(settings()).not.toBe(first);
});
