import { globSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";

const ROOT = join(import.meta.dirname, "..");
const HOOK = /^(before|after)(Each|All)\(/m;

test("what several test files import has no hook of its own: it is imported once, and only the first file would have it", () => {
  const sources = globSync("{packages/*/{src,test},test,testing}/**/*.ts", { cwd: ROOT });
  const helpers = sources.filter((file) => !file.endsWith(".test.ts"));
  expect(helpers.length).toBeGreaterThan(100);
  expect(helpers.filter((file) => HOOK.test(readFileSync(join(ROOT, file), "utf8")))).toEqual([]);
});
