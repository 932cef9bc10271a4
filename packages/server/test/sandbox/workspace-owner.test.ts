import { lstatSync, mkdirSync, readdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, it, onTestFinished } from "vitest";
import { createTempDir } from "../../../../testing/temp-dir.ts";
import { handOver } from "../../src/sandbox/docker/workspace-owner.ts";
import { nestFolders } from "./nest-folders.ts";

// Only root makes files that are another user's.
it.skipIf(process.getuid?.() !== 0)("what root made is given to the user of commands, whatever its name", async () => {
  const dir = createTempDir();
  onTestFinished(() => dir.remove());
  const odd = Buffer.concat([Buffer.from(`${dir.path}/`), Buffer.from([0xff])]);
  const inOdd = Buffer.concat([odd, Buffer.from("/a")]);
  const kept = join(dir.path, ".cognition");
  for (const folder of [odd, kept]) mkdirSync(folder);
  writeFileSync(inOdd, "a");
  await handOver({ folder: dir.path, paths: { protected: [kept], hidden: [] } }, { uid: 1000, gid: 1000 });
  expect([dir.path, odd, inOdd, kept].map((path) => lstatSync(path).uid)).toEqual([1000, 1000, 1000, 0]);
});

it.skipIf(process.getuid?.() !== 0)(
  "folders that a command has nested without end do not take all descriptors",
  async () => {
    const dir = createTempDir();
    onTestFinished(() => dir.remove());
    const outermost = nestFolders(dir.path, 400, "n");
    const held = () => readdirSync("/proc/self/fd").length;
    const before = held();
    let most = 0;
    const done = handOver({ folder: dir.path, paths: { protected: [], hidden: [] } }, { uid: 1000, gid: 1000 });
    const looking = setInterval(() => {
      most = Math.max(most, held());
    });
    await done;
    clearInterval(looking);
    expect(most - before).toBeLessThan(300);
    expect(lstatSync(join(outermost, "n", "n")).uid).toBe(1000);
  },
);
