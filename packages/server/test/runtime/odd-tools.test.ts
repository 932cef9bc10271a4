import { AppError } from "@cognition/contract";
import { describe, expect, it, onTestFinished } from "vitest";
import { z } from "zod";
import { MAX_OUTPUT_BYTES } from "../../src/runtime/finished-tool.ts";
import { defineTool } from "../../src/tool/define-tool.ts";
import type { ToolContext, ToolDefinition, ToolEvent } from "../../src/tool/tool.ts";
import { calls, says, scriptedProvider } from "./scripted-provider.ts";
import { dataOf, say, startRuntime } from "./started-runtime.ts";

interface Scene {
  call?: string;
  schema?: ToolDefinition["schema"];
  args?: Record<string, unknown>;
}

async function startWith(run: (args: never, context: ToolContext) => unknown, scene: Scene = {}) {
  const { call = "odd", schema = z.object({}), args = {} } = scene;
  const tool = defineTool({
    name: "odd",
    description: "Odd",
    schema,
    on_crash: "never",
    effect: "write",
    run: run as () => string,
  }) as ToolDefinition;
  const { server, options } = await scriptedProvider(calls("call_1", call, args), says("Done"));
  onTestFinished(() => server[Symbol.asyncDispose]());
  return { ...(await startRuntime({ ...options, tools: [tool] })), server };
}

const circular: Record<string, unknown> = { name: "loop" };
circular["self"] = circular;

it.each<[string, unknown, string]>([
  ["an object", { a: 1 }, '{"a":1}'],
  ["a number", 42, "42"],
  ["nothing", undefined, ""],
  ["null", null, "null"],
  ["a bigint", 10n, "10"],
  ["a map", new Map([["a", 1]]), '{"a":1}'],
  ["bytes", new Uint8Array([1, 2, 3]), "AQID"],
  ["a circle", circular, "loop"],
  ["an artifact that is a function", { output: "did it", artifact: () => 1 }, "did it"],
  ["an artifact of a class", { output: "did it", artifact: new (class Row {})() }, "did it"],
  ["an artifact that is a circle", { output: "did it", artifact: circular }, "did it"],
  ["an artifact with __proto__", { output: "did it", artifact: JSON.parse('{"__proto__":1}') }, "did it"],
  ["a block with a function", [{ type: "text", text: "did it", more: () => 1 }], "did it"],
])("a tool that gives %s has done its work, and the model reads what it gave", async (_name, given, output) => {
  const started = await startWith(() => given);
  const events = await say(started, "Go");
  expect(dataOf(events, "tool_result")).toMatchObject([{ outcome: "ok", output: expect.stringContaining(output) }]);
  expect(dataOf(events, "done")).toMatchObject([{ status: "succeeded" }]);
  expect(started.errors).toEqual([]);
});

it.each<[string, (text: string) => unknown]>([
  ["a text", (text) => text],
  ["a block", (text) => [{ type: "text", text }]],
  ["an object", (text) => ({ text })],
])("of %s that is longer than any model reads, the beginning is kept", async (_name, give) => {
  const started = await startWith(() => give(`${"x".repeat(MAX_OUTPUT_BYTES)} the end`));
  const [result] = dataOf(await say(started, "Go"), "tool_result");
  const kept = JSON.stringify(result);
  expect(kept).toContain(`(cut off: ${MAX_OUTPUT_BYTES} of `);
  expect(kept).toContain("xxx");
  expect(kept).not.toContain("the end");
});

it.each<[string, unknown]>([
  ["null", null],
  ["nothing", undefined],
  ["a text", "no luck"],
  [
    "what has no text",
    {
      toString: () => {
        throw new Error("no");
      },
    },
  ],
  ["what has no prototype", Object.create(null)],
])("a tool that throws %s has failed, and the run goes on", async (_name, thrown) => {
  const started = await startWith(() => {
    throw thrown;
  });
  const events = await say(started, "Go");
  expect(dataOf(events, "tool_result")).toMatchObject([
    { outcome: "error", output: expect.stringMatching(/^odd failed: ./) },
  ]);
  expect(dataOf(events, "done")).toMatchObject([{ status: "succeeded" }]);
  expect(started.errors).toEqual([]);
});

it.each<[string, ToolDefinition["schema"]]>([
  ["zod", z.object({ days: z.int(), unit: z.enum(["c", "f"]) })],
  [
    "JSON Schema",
    {
      type: "object",
      properties: { days: { type: "integer" }, unit: { enum: ["c", "f"] } },
      required: ["days", "unit"],
    },
  ],
])(
  "arguments that don't fit a schema of %s: the model is told of each what is wrong with it",
  async (_name, schema) => {
    const started = await startWith(() => "never", { schema, args: { days: "many" } });
    const [result] = dataOf(await say(started, "Go"), "tool_result");
    expect(result).toMatchObject({ outcome: "error", output: expect.stringContaining("days") });
    expect(result).toMatchObject({ output: expect.stringContaining("unit") });
  },
);

it("arguments of which each part fits two alternatives are looked at once, and hold nobody up", async () => {
  const branch = { type: "object", properties: { a: { $ref: "#/$defs/tree" } } };
  const schema = {
    type: "object",
    properties: { tree: { $ref: "#/$defs/tree" } },
    $defs: { tree: { anyOf: [branch, { ...branch }] } },
  };
  const tree = JSON.parse(`${'{"a":'.repeat(20)}{}${"}".repeat(20)}`);
  const started = await startWith(() => "done", { schema, args: { tree } });
  const lags: number[] = [];
  let last = performance.now();
  const beat = setInterval(() => {
    lags.push(performance.now() - last);
    last = performance.now();
  }, 20);
  onTestFinished(() => clearInterval(beat));
  expect(dataOf(await say(started, "Go"), "tool_result")).toMatchObject([{ outcome: "ok" }]);
  expect(Math.max(...lags)).toBeLessThan(3_000);
});

const route = { type: "string", description: "A route" };
const file = { type: "string" };
const unions: [string, ToolDefinition["schema"], object][] = [
  ["no properties", { type: "object" }, { type: "object", properties: {} }],
  [
    "arrays of anything",
    {
      type: "object",
      properties: {
        tags: { type: "array" },
        items: { type: "object", properties: { type: { type: ["array", "null"] } } },
      },
    },
    {
      properties: {
        tags: { type: "array", items: {} },
        items: { type: "object", properties: { type: { type: ["array", "null"], items: {} } } },
      },
    },
  ],
  [
    "arrays of which each place is another thing",
    {
      type: "object",
      properties: {
        older: { type: "array", items: [file, { type: "array" }], additionalItems: false },
        newer: { type: "array", prefixItems: [file], items: false },
        open: { type: "array", items: [file], additionalItems: file },
        bare: { type: "array", items: true },
      },
    },
    {
      properties: {
        older: { type: "array", prefixItems: [file, { type: "array", items: {} }], items: {}, maxItems: 2 },
        newer: { type: "array", prefixItems: [file], items: {}, maxItems: 1 },
        open: { type: "array", prefixItems: [file], items: file },
        bare: { type: "array", items: {} },
      },
    },
  ],
  [
    "alternatives at its top",
    { type: "object", properties: { route, file }, anyOf: [{ required: ["route"] }, { required: ["file"] }] },
    { type: "object", properties: { route, file } },
  ],
  [
    "alternatives that it refers to",
    {
      type: "object",
      oneOf: [{ $ref: "#/$defs/Text" }, { $ref: "#/$defs/Link" }],
      $defs: {
        Text: { type: "object", properties: { kind: { const: "text" }, route }, required: ["kind", "route"] },
        Link: { type: "object", properties: { kind: { const: "link" }, file }, required: ["kind", "file"] },
      },
    },
    {
      properties: { kind: { anyOf: [{ const: "text" }, { const: "link" }] }, route, file },
      required: ["kind"],
    },
  ],
];

it.each(unions)("a schema with %s is sent in a form that no provider refuses", async (_name, schema, sent) => {
  const started = await startWith(() => "did it", { schema, args: { kind: "text", route: "/a" } });
  const events = await say(started, "Go");
  expect(dataOf(events, "tool_result")).toMatchObject([{ outcome: "ok", output: "did it" }]);
  const [request] = started.server.requests;
  const tools = request?.body["tools"] as { function: { name: string; parameters: object } }[];
  const parameters = tools.find((tool) => tool.function.name === "odd")?.function.parameters;
  expect(parameters).toMatchObject(sent);
  expect(Object.keys(parameters ?? {})).not.toEqual(expect.arrayContaining([expect.stringMatching(/Of$/)]));
});

it("what such a schema asks for still holds", async () => {
  const anyOf = [{ required: ["route"] }, { required: ["file"] }];
  const schema = { type: "object", properties: { route, file }, anyOf };
  const started = await startWith(() => "never", { schema, args: {} });
  const [result] = dataOf(await say(started, "Go"), "tool_result");
  expect(result).toMatchObject({ outcome: "error", output: expect.stringContaining("route") });
});

it.each(["constructor", "toString", "__proto__", "hasOwnProperty"])(
  "a call of %s is one of a tool that there is not",
  async (name) => {
    const started = await startWith(() => "never", { call: name });
    const events = await say(started, "Go");
    expect(dataOf(events, "tool_result")).toMatchObject([{ outcome: "error", output: expect.stringContaining(name) }]);
    expect(dataOf(events, "done")).toMatchObject([{ status: "succeeded" }]);
    expect(started.errors).toEqual([]);
  },
);

it("of an error that is longer than any model reads, the beginning is told", async () => {
  const started = await startWith(() => {
    throw new Error("y".repeat(MAX_OUTPUT_BYTES + 1));
  });
  const [result] = dataOf(await say(started, "Go"), "tool_result");
  expect(result).toMatchObject({ outcome: "error", output: expect.stringMatching(/^odd failed: yyy/) });
  expect(String(result?.["output"])).toMatch(/cut off: 4194304 of 4194305 bytes are shown\)$/);
});

it("a picture that is too large for providers is left out, and the model told so", async () => {
  const picture = (size: number) => ({ type: "image", mimeType: "image/png", data: "iVBORw0KGgoA".padEnd(size, "A") });
  const started = await startWith(() => [picture(4), picture(MAX_OUTPUT_BYTES + 4)]);
  const [result] = dataOf(await say(started, "Go"), "tool_result");
  expect(result).toMatchObject({
    outcome: "ok",
    output: expect.stringMatching(/left out: one image \(image\/png\) of/),
  });
});

it("a tool that does not know what became of its work is recorded as unknown, not as failed", async () => {
  const started = await startWith(() => {
    throw new AppError("outcome_unknown", "The server broke off. Nobody knows whether it took effect.");
  });
  const events = await say(started, "Go");
  expect(dataOf(events, "tool_result")).toMatchObject([
    { outcome: "unknown", output: expect.stringContaining("Nobody knows") },
  ]);
  expect(await started.storage.listToolCalls(events[0]?.run_id ?? "")).toMatchObject([{ status: "unknown" }]);
});

describe("what a tool emits", () => {
  const emitting =
    (event: unknown) =>
    (_: never, { emit }: ToolContext) => {
      emit(event as ToolEvent);
      return "did it";
    };

  it.each<[string, unknown]>([
    ["an object of its own", { progress: 1 }],
    ["output that is no text", { event: "tool_output", content: 5 }],
    ["output that has no form in JSON", { event: "tool_output", content: 10n }],
    ["nothing", undefined],
  ])(
    "is refused at the call where it is %s: an event that no client can read would be in the log",
    async (_, given) => {
      const started = await startWith(emitting(given));
      const events = await say(started, "Go");
      expect(dataOf(events, "tool_result")).toMatchObject([
        { outcome: "error", output: expect.stringMatching(/emit takes .*tool_output.*custom/) },
      ]);
      expect(dataOf(events, "tool_output")).toEqual([]);
      expect(dataOf(events, "status").map(({ attempt = 1 }) => attempt)).not.toContain(2);
      expect(started.errors).toEqual([]);
    },
  );

  it("is an event of its own run, whatever it says of itself", async () => {
    const started = await startWith(emitting({ event: "custom", data: { run_id: "another", done: 3 } }));
    const events = await say(started, "Go");
    expect(dataOf(events, "custom")).toEqual([{ run_id: events[0]?.run_id, done: 3 }]);
  });

  it("is told as a value where its members would not be what those of an event are", async () => {
    const data = { agent: 7, message_id: null };
    const events = await say(await startWith(emitting({ event: "custom", data })), "Go");
    expect(dataOf(events, "custom")).toEqual([{ run_id: events[0]?.run_id, value: data }]);
  });
});
