import { EMPTY_TREE, encodeTree, hashBlob, hashTree, openStorage, type TreeEntry } from "@cognition/thread";
import { afterEach, beforeEach, expect, it } from "vitest";
import { keepTheirs } from "../../src/timeline/workspace/keep-theirs.ts";

let storage: Awaited<ReturnType<typeof openStorage>>;
beforeEach(async () => {
  storage = await openStorage("memory");
});
afterEach(() => storage.close());

const FILE = hashBlob(new Uint8Array());

async function folder(entries: readonly TreeEntry[]): Promise<string> {
  const content = encodeTree(entries);
  await storage.snapshots.putObjects({}, [{ hash: hashTree(content), kind: "tree", content }]);
  return hashTree(content);
}

const files = (count: number) =>
  folder(Array.from({ length: count }, (_, i) => ({ name: `f${i + 10_000}`, type: "file", mode: 0o644, hash: FILE })));
const tree = (name: string, hash: string): TreeEntry => ({ name, type: "tree", mode: 0o755, hash });

it("many files that people have added, and many that are undone, take no more time than there are of them", async () => {
  const many = await files(20_000);
  const head = await folder([tree("undone", many)]);
  const stood = await folder([tree("theirs", many), tree("undone", many)]);
  const began = process.cpuUsage();
  const { tree: kept, conflicts } = await keepTheirs(storage.snapshots, {}, { head, stood, to: EMPTY_TREE });
  const { user } = process.cpuUsage(began);
  expect([kept, conflicts]).toEqual([await folder([tree("theirs", many)]), []]);
  // Each of the one beside each of the other took 9 s of it.
  expect(user / 1e6).toBeLessThan(3);
});

it("a folder that people have removed is there again where something is to be in it", async () => {
  const inner = await folder([tree("deep", await files(1))]);
  const head = await folder([tree("a", EMPTY_TREE), tree("b", EMPTY_TREE)]);
  const to = await folder([tree("a", inner), tree("b", EMPTY_TREE)]);
  const { tree: kept } = await keepTheirs(storage.snapshots, {}, { head, stood: EMPTY_TREE, to });
  expect(kept).toBe(await folder([tree("a", inner)]));
});

it("a folder whose mode people have changed has it, and all that is in it", async () => {
  const one = await files(1);
  const closed = { ...tree("a", one), mode: 0o700 };
  const head = await folder([tree("a", one), tree("undone", one)]);
  const stood = await folder([closed, tree("undone", one)]);
  const to = await folder([tree("a", one)]);
  const { tree: kept, conflicts } = await keepTheirs(storage.snapshots, {}, { head, stood, to });
  expect([kept, conflicts]).toEqual([await folder([closed]), []]);
});
