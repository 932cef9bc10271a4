import { describe, expect, expectTypeOf, it } from "vitest";
import { z } from "zod";
import { toFinishedTool } from "../../src/runtime/finished-tool.ts";
import { createBuiltinTools } from "../../src/tool/builtin-tools.ts";
import { defineTool } from "../../src/tool/define-tool.ts";
import { parseToolArgs, toolParameters } from "../../src/tool/tool-schema.ts";

describe("a tool", () => {
  it("gets arguments of its schema's type, with defaults", async () => {
    const tool = defineTool({
      name: "add",
      description: "Adds",
      schema: z.object({ a: z.number(), b: z.number().default(2) }),
      on_crash: "retry",
      effect: "read",
      run: (args) => {
        expectTypeOf(args).toEqualTypeOf<{ a: number; b: number }>();
        return String(args.a + args.b);
      },
    });
    expect(await parseToolArgs(tool, { a: 1 })).toEqual({ a: 1, b: 2 });
    await expect(parseToolArgs(tool, { a: "1" })).rejects.toMatchObject({
      code: "validation_failed",
      message: expect.stringContaining("add.a"),
    });
    expect(toolParameters(tool.schema)).toMatchObject({ type: "object", required: ["a"] });
  });

  it("has its schema read once, however often it is made", () => {
    const fetch = async () => Promise.reject(new Error("nobody asks"));
    const [once, again] = [createBuiltinTools({ fetch }), createBuiltinTools({ fetch })];
    expect(once.length).toBeGreaterThan(5);
    for (const [n, { schema }] of once.entries()) {
      expect(toolParameters(schema)).toBe(toolParameters(again[n]?.schema ?? {}));
    }
  });

  it("with a JSON Schema refuses what does not fit", async () => {
    const schema = { $id: "same", type: "object", properties: { a: { type: "number" } }, additionalProperties: false };
    const other = { $id: "same", type: "object", properties: { b: { type: "string" } }, required: ["b"] };
    expect(await parseToolArgs({ name: "x", schema }, { a: 1 })).toEqual({ a: 1 });
    await expect(parseToolArgs({ name: "x", schema }, { c: 1 })).rejects.toThrow("additional properties");
    // An `$id` of another schema must not bring that schema back.
    await expect(parseToolArgs({ name: "y", schema: other }, { a: 1 })).rejects.toThrow("required property 'b'");
  });

  it.each([
    [{ type: "strng" }],
    [{ type: "object", properties: [] }],
    [{ type: "object", properties: { a: { pattern: "(" } } }],
    [{ $ref: "https://example.com/schema" }],
    [{ type: "array" }],
    [{}],
  ])("can't have the schema %j", (schema) => {
    expect(() =>
      defineTool({ name: "x", description: "d", schema, on_crash: "never", effect: "read", run: () => "" }),
    ).toThrow(expect.objectContaining({ code: "validation_failed" }));
  });
});

describe("what a tool answers", () => {
  const block = { type: "text", text: "a" };
  it.each([
    ["text", { output: "text", exit_code: null }],
    [[block], { output: [block], exit_code: null }],
    [
      { output: "x", exit_code: 3, artifact: 7 },
      { output: "x", exit_code: 3, artifact: 7 },
    ],
    [{ output: [block] }, { output: [block], exit_code: null }],
    [undefined, { output: "", exit_code: null }],
    [42, { output: "42", exit_code: null }],
    [[1, 2], { output: "[1,2]", exit_code: null }],
    [[], { output: "[]", exit_code: null }],
    [{ a: 1 }, { output: '{"a":1}', exit_code: null }],
    [
      { output: "x", exit_code: 1.5 },
      { output: "x", exit_code: null },
    ],
  ])("one form, whatever it is: %#", (result, finished) => {
    expect(toFinishedTool(result)).toEqual(finished);
  });

  it("is text even where it has no JSON", () => {
    expect(toFinishedTool(10n)).toMatchObject({ output: "10" });
  });
});
