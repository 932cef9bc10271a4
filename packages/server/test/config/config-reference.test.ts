import { readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { renderEnvExample, renderReference } from "../../scripts/config-reference.ts";
import { listOptions } from "../../src/config/list-options.ts";

const root = join(import.meta.dirname, "../../../..");
const read = (file: string) => readFileSync(join(root, file), "utf8");

test("the reference page and .env.example are as `npm run config-reference` writes them", () => {
  expect(read(".env.example")).toBe(renderEnvExample());
  // The formatter may break or indent lines; the words are what must be fresh.
  const words = (text: string) => text.split(/\s+/).filter((word) => word !== "");
  expect(words(read("docs/reference/configuration.md"))).toEqual(words(renderReference()));
});

test("no two keys have the same variable, and none looks like one that Kubernetes injects", () => {
  const names = listOptions().flatMap(({ env, aliases = [] }) => [env, ...aliases]);
  expect(names.length).toBeGreaterThan(40);
  expect(new Set(names).size).toBe(names.length);
  expect(names.filter((name) => /_SERVICE_(HOST|PORT)|_PORT_\d/.test(name))).toEqual([]);
});
