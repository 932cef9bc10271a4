import { readdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { hashBlob } from "@cognition/thread/snapshot-tree";
import { afterEach, beforeEach, expect, it } from "vitest";
import { createTempDir, type TempDir } from "../../../../testing/temp-dir.ts";
import { writeFiles } from "../../src/timeline/workspace/apply-changes.ts";
import type { PathChange } from "../../src/timeline/workspace/path-change.ts";

let temp: TempDir;
beforeEach(() => {
  temp = createTempDir();
});
afterEach(() => temp.remove());

const content = Buffer.from("one");
const after = { type: "file", mode: 0o644, hash: hashBlob(content) } as const;
const added = (name: string): PathChange => ({ path: name, before: null, after: { ...after, name } });
const unfinished = (of: number) => writeFileSync(join(temp.path, `.cognition-unfinished-${of}`), "half");
const write = (changes: PathChange[]) => writeFiles(temp.path, changes, new Map([[after.hash, content]]));

it("a folder is looked through for what was left there once, not for each of its files: 6,000 of them took a minute", () => {
  let asked = 0;
  const contents = new Map([[after.hash, content]]);
  contents.get = () => {
    if (++asked === 2) unfinished(1);
    return content;
  };
  writeFiles(temp.path, ["a", "b", "c"].map(added), contents);
  expect(readdirSync(temp.path).sort()).toEqual([".cognition-unfinished-1", "a", "b", "c"]);
});

it("what an earlier restore has left is removed, also by the same process in a folder that it has just been in", () => {
  unfinished(1);
  unfinished(process.pid);
  write([added("a")]);
  unfinished(process.pid);
  write([added("b")]);
  expect(readdirSync(temp.path).sort()).toEqual(["a", "b"]);
});
