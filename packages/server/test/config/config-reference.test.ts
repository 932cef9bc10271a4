import { execFileSync } from "node:child_process";
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { createTempDir } from "../../../../testing/temp-dir.ts";
import { renderEnvExample, renderReference } from "../../scripts/config-reference.ts";
import { listOptions } from "../../src/config/list-options.ts";
import { loadConfig } from "../../src/config.ts";

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

test("a copy of .env.example with everything uncommented, read by a shell as it says, changes nothing", () => {
  const dir = createTempDir();
  writeFileSync(join(dir.path, ".env"), renderEnvExample().replace(/^# (COGNITION_\w+=)/gm, "$1"));
  const listed = execFileSync("sh", ["-c", "set -a; . ./.env; set +a; env -0"], { cwd: dir.path, env: {} });
  const pairs = String(listed)
    .split("\0")
    .filter((line) => line.startsWith("COGNITION_"))
    .map((line) => [line.slice(0, line.indexOf("=")), line.slice(line.indexOf("=") + 1)]);
  expect(pairs.length).toBeGreaterThan(40);
  const read = loadConfig({ env: Object.fromEntries(pairs), cwd: dir.path });
  expect(read.config).toEqual(loadConfig({ env: {}, cwd: dir.path }).config);
  dir.remove();
});
