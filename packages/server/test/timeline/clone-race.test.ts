import { execFileSync, spawn } from "node:child_process";
import { once } from "node:events";
import { closeSync, constants, mkdirSync, openSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { hashBlob } from "@cognition/thread/snapshot-tree";
import { expect, it } from "vitest";
import { createTempDir } from "../../../../testing/temp-dir.ts";
import { toBytes } from "../../src/timeline/workspace/held-folder.ts";
import type { PathChange } from "../../src/timeline/workspace/path-change.ts";
import { createWorkspaceThread } from "../../src/timeline/workspace/workspace-thread.ts";

const FILES = 100;
const ROUNDS = 10;
const WITHIN_MS = 20_000;

/** Each file is a pipe at one moment and itself at the next, in one step. */
const SWAP = `
const { linkSync, renameSync } = require("node:fs");
process.stdout.write("swapping\\n");
for (let i = 0; ; i = (i + 7) % ${FILES})
  for (const what of ["../pipe", "../file"]) { linkSync(what, "next"); renameSync("next", "f" + i); }`;

it("a fork's files are copied while a command swaps them for pipes: nobody waits for one", {
  timeout: 60_000,
}, async () => {
  const temp = createTempDir();
  const path = (name: string) => join(temp.path, name);
  mkdirSync(path("from"));
  writeFileSync(path("file"), "one");
  execFileSync("mkfifo", [path("pipe")]);
  const after = { type: "file", mode: 0o644, hash: hashBlob(Buffer.from("one")) } as const;
  const changes = Array.from({ length: FILES }, (_, i): PathChange => {
    writeFileSync(path(`from/f${i}`), "one");
    return { path: `f${i}`, before: null, after: { ...after, name: `f${i}` } };
  });
  const swapper = spawn(process.execPath, ["-e", SWAP], { cwd: path("from"), stdio: ["ignore", "pipe", "inherit"] });
  await once(swapper.stdout, "data");
  const thread = createWorkspaceThread();
  const clone = async () => {
    for (let round = 0; round < ROUNDS; round++) {
      mkdirSync(path(`to${round}`));
      await thread.ask("clone", { root: toBytes(path(`to${round}`)), source: toBytes(path("from")), changes });
    }
    return "done";
  };
  const late = AbortSignal.timeout(WITHIN_MS);
  const outcome = await Promise.race([clone(), once(late, "abort").then(() => "waits for a pipe")]);
  swapper.kill("SIGKILL");
  // Lets go whoever waits for somebody to write to it.
  if (outcome !== "done") closeSync(openSync(path("pipe"), constants.O_RDWR));
  await thread.close();
  temp.remove();
  expect(outcome).toBe("done");
});
