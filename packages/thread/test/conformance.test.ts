import { globSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, it } from "vitest";
import * as suites from "../src/conformance/index.ts";

it("every suite that our own engines pass is there for others", () => {
  const ours = globSync("*.test.ts", { cwd: import.meta.dirname }).flatMap((file) => {
    const text = readFileSync(join(import.meta.dirname, file), "utf8");
    return [...text.matchAll(/import \{ (\w+Contract) \} from "\.\.\/src\/conformance\//g)].map(([, name]) => name);
  });
  expect(ours).toContain("sessionContract");
  expect(Object.keys(suites)).toEqual(expect.arrayContaining(ours));
});

it("the guide names every suite", () => {
  const guide = readFileSync(join(import.meta.dirname, "../../../docs/guide/custom-backend.md"), "utf8");
  expect(Object.keys(suites).filter((name) => !guide.includes(`\`${name}\``))).toEqual([]);
});
