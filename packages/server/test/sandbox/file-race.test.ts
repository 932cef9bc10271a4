import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { lstatSync, mkdirSync, readdirSync, readFileSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test } from "vitest";
import { createTempDir, type TempDir } from "../../../../testing/temp-dir.ts";
import { createSandboxes } from "../../src/sandbox/create-sandboxes.ts";
import type { Sandbox } from "../../src/sandbox/sandbox.ts";

const ROUNDS = 400;
const WITHIN_MS = 40_000;
let temp: TempDir;
let sandbox: Sandbox;
let swapper: ChildProcess;
const path = (name: string) => join(temp.path, name);

/** In the workspace `door` is a folder at one moment and a link to a folder outside at the next. */
const SWAP = `
const { renameSync } = require("node:fs");
let away = 0;
function move(from, to) {
  for (;;) {
    try { return renameSync(from, to); }
    catch (error) { if (error.code === "ENOENT") throw error; }
    renameSync(to, "away-" + ++away); // The server has made a folder in the gap.
  }
}
process.stdout.write("swapping\\n");
for (;;) {
  move("door", "folder"); move("link", "door");
  move("door", "link"); move("folder", "door");
}`;

beforeEach(async () => {
  temp = createTempDir();
  mkdirSync(path("ws/door/sub"), { recursive: true });
  mkdirSync(path("outside/sub"), { recursive: true });
  for (const [folder, text] of [
    ["ws/door", "inside"],
    ["outside", "outside"],
  ] as const) {
    writeFileSync(path(`${folder}/file`), text);
    writeFileSync(path(`${folder}/sub/file`), text);
  }
  symlinkSync("../outside", path("ws/link"));
  const sandboxes = await createSandboxes({ backend: "local", environment: process.env });
  sandbox = await sandboxes.open("session", path("ws"));
  swapper = spawn(process.execPath, ["-e", SWAP], { cwd: path("ws"), stdio: ["ignore", "pipe", "inherit"] });
  if (swapper.stdout) await once(swapper.stdout, "data");
});

afterEach(async () => {
  const crashed = swapper.exitCode;
  const ended = crashed === null ? once(swapper, "exit") : undefined;
  swapper.kill("SIGKILL");
  await ended;
  expect(crashed).toBeNull();
  temp.remove();
});

interface Seen {
  done: number;
  refused: number;
}

/** So many rounds, and more until enough was met to mean something: who swaps may have no turn for a while. */
async function inRounds(work: (round: number) => Promise<unknown>, isEnough: (seen: Seen) => boolean): Promise<Seen> {
  const seen: Seen = { done: 0, refused: 0 };
  const deadline = performance.now() + WITHIN_MS;
  for (let round = 0; round < ROUNDS || (!isEnough(seen) && performance.now() < deadline); round++) {
    try {
      await work(round);
      seen.done++;
    } catch (error) {
      expect(error).toMatchObject({
        code: expect.stringMatching(/^(workspace_path_refused|file_not_found|validation_failed)$/),
      });
      seen.refused++;
    }
  }
  return seen;
}

test("reading never leaves through a folder that is swapped for a link", { tags: "long" }, async () => {
  const texts = new Set<string>();
  const seen = await inRounds(
    async () => texts.add(await sandbox.files.readText("door/sub/file")),
    ({ done, refused }) => done > 0 && refused > 0,
  );
  expect([...texts]).toEqual(["inside"]);
  expect(seen.refused).toBeGreaterThan(0);
});

test("writing and deleting never leave either", { tags: "long" }, async () => {
  const before = readdirSync(path("outside"));
  const seen = await inRounds(
    async (round) => {
      await sandbox.files.write(`door/new-${round % 7}/x`, "written");
      await sandbox.files.write("door/file", "written");
      await sandbox.files.delete(`door/new-${round % 7}`);
    },
    ({ done }) => done > 0,
  );
  expect(seen.done).toBeGreaterThan(0);
  expect(readdirSync(path("outside"))).toEqual(before);
  expect(readFileSync(path("outside/file"), "utf8")).toBe("outside");
  expect(readFileSync(path("outside/sub/file"), "utf8")).toBe("outside");
});

test("searching never leaves either, and the swapping is real", { tags: "long" }, async () => {
  const faces = new Set<boolean>();
  const seen = await inRounds(
    async () => {
      const { matches } = await sandbox.files.grep("outside");
      expect(matches).toEqual([]);
      const door = lstatSync(path("ws/door"), { throwIfNoEntry: false });
      if (door) faces.add(door.isSymbolicLink());
    },
    ({ done }) => done > 0 && faces.size === 2,
  );
  expect(seen.done).toBeGreaterThan(0);
  expect(faces.size).toBe(2);
});
