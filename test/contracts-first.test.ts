import { globSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import type { TestSpecification, Vitest } from "vitest/node";
import { ContractsFirst } from "../testing/contracts-first.ts";

test("files that run contract suites are begun first in a checkout where no test has run yet, small as they are", async () => {
  const root = join(import.meta.dirname, "../packages/thread/test");
  const project = { name: "", config: { isolate: false, sequence: { groupOrder: 0 } } };
  const files = globSync("*.test.ts", { cwd: root }).map((file) => ({ project, moduleId: join(root, file) }));
  const neverRun = { cache: { getTestSpecificationResult: () => undefined } };
  const sorted = await new ContractsFirst(neverRun as unknown as Vitest).sort(files as unknown as TestSpecification[]);
  const order = sorted.map(({ moduleId }) => moduleId.slice(root.length + 1));
  expect(order).toHaveLength(files.length);
  for (const contract of ["checkpoints.test.ts", "timeline.test.ts", "runs.test.ts"]) {
    expect(order.indexOf(contract), contract).toBeLessThan(order.indexOf("migrations.test.ts"));
  }
});
