import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { isComparable, unifiedDiff } from "../src/sql/unified-diff.ts";

const NO_NEWLINE = "\\ No newline at end of file\n";

/** Does what `patch` does, and fails where it would. */
function apply(before: string, diff: string): string {
  const old = before.match(/[^\n]*\n|[^\n]+$/g) ?? [];
  const result: string[] = [];
  let next = 0;
  for (const hunk of diff.split(/^(?=@@ )/m).slice(1)) {
    const [header, ...body] = hunk.match(/[^\n]*\n/g) as [string, ...string[]];
    const [, start, length] = /^@@ -(\d+),(\d+) \+\d+,\d+ @@$/m.exec(header) ?? [];
    const at = Number(length) === 0 ? Number(start) : Number(start) - 1;
    result.push(...old.slice(next, at));
    next = at;
    body.forEach((line, index) => {
      if (line === NO_NEWLINE) return;
      const text = body[index + 1] === NO_NEWLINE ? line.slice(1, -1) : line.slice(1);
      if (line[0] !== "+") expect(old[next++]).toBe(text);
      if (line[0] !== "-") result.push(text);
    });
  }
  return [...result, ...old.slice(next)].join("");
}

function edits(diff: string): number {
  return diff.split("\n").filter((line) => /^[-+](?!--|\+\+)/.test(line)).length;
}

describe("unifiedDiff", () => {
  const line = fc.constantFrom("a", "b", "c", "", "--- x", "@@ -1,1 +1,1 @@");
  const text = fc
    .tuple(fc.array(line, { maxLength: 40 }), fc.boolean())
    .map(([all, end]) => all.join("\n") + (end ? "\n" : ""));

  it("applied to the one text gives the other", () => {
    fc.assert(
      fc.property(text, text, (before, after) => apply(before, unifiedDiff(before, after, "a", "b")) === after),
    );
  });

  it("is empty for equal texts and whole for empty ones", () => {
    expect(unifiedDiff("a\n", "a\n", "a", "b")).toBe("");
    expect(unifiedDiff("", "a\n", "a", "b")).toBe("--- a\n+++ b\n@@ -0,0 +1,1 @@\n+a\n");
    expect(unifiedDiff("a\n", "", "a", "b")).toBe("--- a\n+++ b\n@@ -1,1 +0,0 @@\n-a\n");
    expect(unifiedDiff("a", "a\n", "a", "b")).toBe(`--- a\n+++ b\n@@ -1,1 +1,1 @@\n-a\n${NO_NEWLINE}+a\n`);
  });

  it("shows three lines around a change and leaves out the rest", () => {
    const before = Array.from({ length: 30 }, (_, n) => `${n}\n`);
    const after = before.with(5, "five\n").with(20, "twenty\n");
    const diff = unifiedDiff(before.join(""), after.join(""), "a", "b");
    expect(diff.match(/^@@ .*$/gm)).toEqual(["@@ -3,7 +3,7 @@", "@@ -18,7 +18,7 @@"]);
    expect(edits(diff)).toBe(4);
  });

  it("stays right, if not short, for long texts with little in common", () => {
    const before = Array.from({ length: 20_000 }, (_, n) => `${n}\n`);
    const after = before.map((text, n) => (n % 2 ? text : `new ${text}`)).join("");
    expect(apply(before.join(""), unifiedDiff(before.join(""), after, "a", "b")) === after).toBe(true);
  });

  it("is for so many lines in all: more would hold up the process, or end it", () => {
    const lines = (count: number) => "a\n".repeat(count - 1);
    expect(isComparable(lines(100_000), "b".repeat(1_000_000))).toBe(true);
    expect(isComparable(lines(100_000), lines(100_000))).toBe(true);
    expect(isComparable(lines(100_000), `${lines(100_000)}b\n`)).toBe(false);
    expect(isComparable("\n".repeat(10_000_000), "")).toBe(false);
    expect(isComparable("", "")).toBe(true);
  });
});
