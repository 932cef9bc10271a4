import { execFileSync } from "node:child_process";
import { mkdirSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import fc from "fast-check";
import { expect, it } from "vitest";
import { createTempDir } from "../../../../testing/temp-dir.ts";
import { ignoreRules, isIgnored } from "../../src/timeline/workspace/ignore-rules.ts";

const PATHS = [
  "a",
  "b.log",
  "Build",
  "build/x",
  "build/deep/x",
  "src/build/y",
  "src/a",
  "src/b.log",
  "src/deep/a/b/c",
  "#c",
];
const ODD = ["x y", "x ", "!bang", "[z]", "a\\b", "q*", "src/é.log"];
const FOLDERS = ["build", "build/deep", "src", "src/build", "src/deep", "src/deep/a", "src/deep/a/b"];
const ALL = [...PATHS, ...ODD, ...FOLDERS.map((path) => `${path}/`)];

const word = fc.constantFrom(
  "a",
  "b",
  "build",
  "src",
  "deep",
  "x",
  "*",
  "**",
  "*.log",
  "?",
  "[ab]",
  "[!a]*",
  "b*",
  "*d",
  ...["[[:alpha:]]*", "[![:lower:][:digit:]]*", "[[:word:]]*"],
  ...["[a\\]x]*", "[\\!-\\-#]*", "[]a]", "[!]x]*", "[a-]*", "[b-a]*"],
);
const line = fc.oneof(
  {
    weight: 8,
    arbitrary: fc
      .tuple(
        fc.constantFrom("", "!"),
        fc.constantFrom("", "/"),
        fc.array(word, { minLength: 1, maxLength: 4 }),
        fc.constantFrom("", "/", " "),
      )
      .map(([not, top, parts, end]) => `${not}${top}${parts.join("/")}${end}`),
  },
  fc.constantFrom(
    "#c",
    "\\#c",
    "\\!bang",
    "x\\ y",
    "x\\ ",
    "\\[z]",
    "a\\\\b",
    "q\\*",
    "é.log",
    "",
    "/",
    "**/",
    "build\r",
    "a**b",
    "src/**/c",
    "*\\",
    "[a",
    "[!]",
  ),
);

/** As git sees it, of a path below folders that count. */
function ofGit(root: string, top: readonly string[], inner: readonly string[]): string[] {
  writeFileSync(join(root, ".gitignore"), top.join("\n"));
  writeFileSync(join(root, "src/.gitignore"), inner.join("\n"));
  // With a slash git would ask the folder's own rules about it.
  const named = (path: string) => path.replace(/\/$/, "");
  const input = ALL.map((path) => `${named(path)}\0`).join("");
  const options = { cwd: root, input, stdio: ["pipe", "pipe", "ignore"] as ["pipe", "pipe", "ignore"] };
  try {
    const told = execFileSync("git", ["check-ignore", "--no-index", "--verbose", "--stdin", "-z"], options);
    const fields = told.toString().split("\0");
    return ALL.filter((path) => {
      const at = fields.findIndex((field, i) => i % 4 === 3 && field === named(path));
      return at >= 0 && !fields[at - 1]?.startsWith("!");
    });
  } catch (error) {
    if ((error as { status?: number }).status !== 1) throw error;
    return [];
  }
}

/** As a scan asks: not for what is in a folder that is left out. */
function ofOurs(top: readonly string[], inner: readonly string[]): string[] {
  const bytes = (lines: readonly string[]) => Buffer.from(lines.join("\n")).toString("latin1");
  const outer = ignoreRules(undefined, "", bytes(top));
  const below = ignoreRules(outer, "src/", bytes(inner));
  const is = (path: string) =>
    isIgnored(path.startsWith("src/") && path !== "src/" ? below : outer, Buffer.from(path).toString("latin1"));
  const isBelow = (path: string): boolean => {
    const parts = path.replace(/\/$/, "").split("/");
    return parts.slice(0, -1).some((_, i) => is(`${parts.slice(0, i + 1).join("/")}/`));
  };
  return ALL.filter((path) => isBelow(path) || is(path));
}

it("say what git says", { timeout: 60_000, tags: "long" }, () => {
  const { path: root, remove } = createTempDir();
  execFileSync("git", ["init", "-q", root], { stdio: "ignore" });
  execFileSync("git", ["config", "core.ignorecase", "false"], { cwd: root });
  for (const path of [...PATHS, ...ODD]) {
    mkdirSync(dirname(join(root, path)), { recursive: true });
    writeFileSync(join(root, path), "");
  }
  const lines = fc.array(line, { maxLength: 4 });
  fc.assert(
    fc.property(lines, lines, (top, inner) => {
      expect(ofOurs(top, inner)).toEqual(ofGit(root, top, inner));
    }),
    { numRuns: 150 },
  );
  remove();
});

it("take a moment, whatever somebody has written into them", () => {
  const deep = `${"a/".repeat(190)}bc`;
  const long = "a".repeat(250);
  const texts = [
    ["**/a/**/a/**/a/**/a/**/b", deep],
    [`${"**/a*/".repeat(100)}b`, deep],
    [`${"*a".repeat(100)}b`, long],
    [`a${" ".repeat(60_000)}b`, long],
    ["[".repeat(65_000), long],
    ["x*y\n".repeat(2_000_000), long],
  ] as const;
  const began = process.cpuUsage();
  for (const [text, path] of texts) expect(isIgnored(ignoreRules(undefined, "", text), path)).toBe(false);
  expect(process.cpuUsage(began).user / 1e6).toBeLessThan(2);
});
