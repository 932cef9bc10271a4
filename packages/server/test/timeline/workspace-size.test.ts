import { writeFileSync } from "node:fs";
import { expect, it } from "vitest";
import { createTempDir } from "../../../../testing/temp-dir.ts";
import { measureSnapshots } from "../../bench/measure-workspace.ts";
import { ScannedWorkspace } from "../../src/timeline/workspace/scanned-workspace.ts";
import { makeManyFiles } from "./many-files.ts";

it("after one file of many has changed, that file and the folders above it are read, and nothing else", () => {
  const dir = createTempDir();
  try {
    const paths = makeManyFiles(dir.path, 400);
    const options = { maxFileBytes: 1e7, exclude: [], ignore: [], now: () => Date.now() };
    const workspace = new ScannedWorkspace(dir.path, options);
    let { tree } = workspace.scan(undefined);
    for (const n of [0, 150, 399]) {
      writeFileSync(paths[n] ?? "", `changed ${n}`);
      const next = workspace.scan(tree);
      expect(next.objects).toHaveLength(3);
      expect(workspace.read(next.objects)).toHaveLength(3);
      ({ tree } = next);
    }
    expect(workspace.scan(tree).objects).toEqual([]);
  } finally {
    dir.remove();
  }
});

it("snapshots cost no more than the distinct bytes and a tenth; a restore is exact", {
  timeout: 60_000,
  tags: "long",
}, async () => {
  const { stored_bytes, distinct_bytes, is_exact } = await measureSnapshots(300, 30);
  expect(stored_bytes).toBeLessThanOrEqual(distinct_bytes * 1.1);
  expect(is_exact).toBe(true);
});
