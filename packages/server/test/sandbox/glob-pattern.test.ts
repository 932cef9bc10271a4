import { describe, expect, test } from "vitest";
import { compileGlob } from "../../src/sandbox/file/glob-pattern.ts";

describe("a file pattern", () => {
  test.each<[string, string[], string[]]>([
    ["*.ts", ["a.ts", "x/y/b.ts", ".ts"], ["a.tsx", "ats"]],
    ["src/*.ts", ["src/a.ts"], ["a.ts", "src/b/a.ts", "x/src/a.ts"]],
    ["./src/**", ["src/a", "src/a/b"], ["lib/a"]],
    ["**/test/**/*.js", ["test/a.js", "x/test/y/z/a.js"], ["test.js", "tests/a.js"]],
    ["a?c", ["abc", "a🚀c"], ["ac", "abbc"]],
    ["[a-c]x", ["ax", "cx"], ["dx"]],
    ["[!a-c]x", ["dx"], ["ax"]],
    ["[]]x", ["]x"], ["x"]],
    ["[[:digit:]_]x", ["1x", "_x"], ["ax", ":x"]],
    ["[x", ["[x"], ["x"]],
    ["*.{js,ts}", ["a.js", "b/a.ts"], ["a.jsx"]],
    ["{src,lib}/{a,b}", ["src/a", "lib/b"], ["src/c"]],
    ["a.b+(c)", ["a.b+(c)"], ["aXb+(c)"]],
    ["**", ["a", "a/b/c"], []],
  ])("%s", (pattern, yes, no) => {
    const matches = compileGlob(pattern);
    expect(yes.filter((path) => !matches(path))).toEqual([]);
    expect(no.filter(matches)).toEqual([]);
  });

  test("of the worst kind does not take for ever", () => {
    const before = performance.now();
    expect(compileGlob("*a".repeat(100))(`${"a".repeat(250)}b`)).toBe(false);
    expect(compileGlob("**/a/".repeat(60))(`${"a/".repeat(60)}b`)).toBe(false);
    expect(performance.now() - before).toBeLessThan(10_000);
  });

  test("that would fill the memory is refused", () => {
    for (const pattern of ["{a,b}".repeat(30), "x".repeat(1_001)])
      expect(() => compileGlob(pattern)).toThrow(expect.objectContaining({ code: "validation_failed" }));
  });
});
