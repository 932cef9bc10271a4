import { existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test, vi } from "vitest";
import { createTempDir, type TempDir } from "../../../../testing/temp-dir.ts";
import { findCgroups } from "../../src/sandbox/process/cgroup.ts";

let temp: TempDir;
beforeEach(() => {
  temp = createTempDir();
});
afterEach(() => temp.remove());

/** What the kernel would say if `mount` were a version 2 hierarchy with this process in `/own`. */
function writeProc(mount: string): string {
  const proc = join(temp.path, "proc");
  mkdirSync(proc);
  writeFileSync(join(proc, "cgroup"), "0::/own\n");
  writeFileSync(join(proc, "mountinfo"), `30 23 0:26 / ${mount} rw,nosuid - cgroup2 cgroup2 rw,nsdelegate\n`);
  return proc;
}

test("there are no controllers where no group can be made, and nothing is left behind", () => {
  const { controllers, create } = findCgroups({ proc: writeProc(join(temp.path, "missing")) });
  expect([...controllers]).toEqual([]);
  expect(create({ processes: 10 })).toBeUndefined();
});

test("a group without the controller's files is not taken for one", () => {
  mkdirSync(join(temp.path, "cgroup", "own"), { recursive: true });
  const { controllers } = findCgroups({ proc: writeProc(join(temp.path, "cgroup")) });
  expect([...controllers]).toEqual([]);
  expect(readdirSync(join(temp.path, "cgroup", "own"))).toEqual([]);
});

const real = findCgroups();

test.skipIf(!real.controllers.has("pids"))("a real group has its limit and goes away", async () => {
  const group = real.create({ processes: 7 });
  const folder = group?.folders[0] ?? "";
  expect(readFileSync(join(folder, "pids.max"), "utf8")).toBe("7\n");
  expect(group?.pids()).toEqual([]);
  await group?.remove();
  expect(existsSync(folder)).toBe(false);
});

test.skipIf(!real.controllers.has("pids"))(
  "a process never has the group of one that had its number before",
  async () => {
    const before = real.create({ processes: 7 });
    vi.resetModules();
    const later = (await import("../../src/sandbox/process/cgroup.ts")).findCgroups();
    const groups = [1, 2, 3, 4].map(() => later.create({ processes: 7 }));
    expect(groups.map((group) => group?.folders[0])).not.toContain(before?.folders[0]);
    for (const group of [before, ...groups]) await group?.remove();
  },
);
