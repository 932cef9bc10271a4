import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, it } from "vitest";
import { createTempDir } from "../../../../testing/temp-dir.ts";
import { loadConfig } from "../../src/config.ts";
import { startTestServer } from "../http/test-server.ts";

const guide = (name: string) => readFileSync(join(import.meta.dirname, "../../../../docs/guide", name), "utf8");

it.each(["access.md", "telemetry.md"])("what %s has for the configuration file is valid", (page) => {
  const blocks = [...guide(page).matchAll(/```yaml\n(.*?)```/gs)].map(([, yaml]) => yaml ?? "");
  expect(blocks.length).toBeGreaterThan(1);
  for (const yaml of blocks) {
    const dir = createTempDir();
    mkdirSync(join(dir.path, ".cognition"));
    writeFileSync(join(dir.path, ".cognition/config.yaml"), yaml);
    expect(() => loadConfig({ env: {}, cwd: dir.path, home: undefined }), yaml).not.toThrow();
    dir.remove();
  }
});

it("the metrics that the guide names are those that there are", async () => {
  const { ask } = await startTestServer();
  const text = await (await ask("/metrics")).text();
  const there = [...text.matchAll(/^# TYPE (cognition_\w+)/gm)].map(([, name]) => name);
  const named = [...guide("telemetry.md").matchAll(/^\| `(cognition_\w+)`/gm)].map(([, name]) => name);
  expect(named.sort()).toEqual(there.sort());
});
