import { Document } from "@langchain/core/documents";
import {
  AIMessage,
  AIMessageChunk,
  type BaseMessage,
  ChatMessage,
  ChatMessageChunk,
  FunctionMessage,
  HumanMessage,
  HumanMessageChunk,
  RemoveMessage,
  SystemMessage,
  SystemMessageChunk,
  ToolMessage,
  ToolMessageChunk,
} from "@langchain/core/messages";
import { LONG_TEXT, ODD_TEXTS } from "./odd-text.ts";

/** Values that come back as they went in, at the top, inside of others, and in channels and writes alike. */
export const SAMPLES: [string, unknown][] = [
  ["null", null],
  ["undefined", undefined],
  ["numbers", [0, -0, 1.5, -1e300, Number.MAX_SAFE_INTEGER, Number.NaN, Infinity, -Infinity]],
  ["-0", -0],
  ["NaN", Number.NaN],
  ["booleans", [true, false]],
  ["big integers", [0n, -1n, 2n ** 200n]],
  ["a big integer", 5n],
  ["odd text", ODD_TEXTS],
  ["text with U+0000 and unpaired surrogates", ["\u0000", "a\u0000b", "\ud800", "\udc00 \ud800"]],
  ["a million characters", LONG_TEXT],
  ["empty containers", { list: [], object: {}, map: new Map(), set: new Set(), bytes: new Uint8Array() }],
  ["undefined members and elements", { a: undefined, list: [undefined, null, undefined] }],
  ["odd keys", { "": 1, "a.b": 2, "1": 3, constructor: 4, toString: 5, "\u0000": 6, length: 7 }],
  ["a date", new Date(1_700_000_000_123)],
  ["dates", [new Date(0), new Date(-1), new Date(8.64e15), new Date(Number.NaN)]],
  ["bytes", new Uint8Array([0, 1, 254, 255])],
  ["a Buffer", Buffer.from("héllo")],
  ["a window into a larger buffer", new Uint8Array(new Uint8Array([1, 2, 3, 4]).buffer, 1, 2)],
  [
    "typed arrays",
    [
      new Int8Array([-1]),
      new Uint8ClampedArray([300]),
      new Int16Array([-2]),
      new Uint16Array([65535]),
      new Int32Array([-3]),
      new Uint32Array([4]),
      new Float32Array([1.5, Number.NaN]),
      new Float64Array([-0, 1e300]),
      new BigInt64Array([-5n]),
      new BigUint64Array([6n]),
    ],
  ],
  ["an ArrayBuffer", new Uint8Array([9, 8]).buffer],
  ["a DataView", new DataView(new Uint8Array([7, 6]).buffer)],
  [
    "a map",
    new Map<unknown, unknown>([
      ["a", 1],
      [{ k: 1 }, [1, 2]],
      [Number.NaN, undefined],
      [[1], new Map([[1, 2]])],
    ]),
  ],
  ["a set", new Set<unknown>([1, "1", { a: 1 }, [1], new Set([2])])],
  ["a pattern", /a(b)?\/[c\n]/giu],
  ["an address", new URL("https://user@example.com:8080/a?b=c#d")],
  ["an object without a prototype", Object.assign(Object.create(null), { a: 1, b: { c: new Date(5) } })],
  ["objects that look like the encoding", LOOKALIKES()],
  ["a document", new Document({ id: "d", pageContent: "text", metadata: { page: 1, when: new Date(3) } })],
];

/** User data with members that an encoding may use for itself. */
function LOOKALIKES(): unknown {
  return [
    { $: "date", v: "2024-01-01T00:00:00.000Z" },
    { $: "list", e: [[1, 2]] },
    { $: "piece", p: 17 },
    { $: "entries", e: [17] },
    { $: { $: "undefined" } },
    { $: undefined, a: 1 },
    { $: "object", v: { $: "bigint", v: "1" } },
    { lc: 1, type: "constructor", id: ["langchain_core", "messages", "HumanMessage"], kwargs: { content: "no" } },
    { lc: 2, type: "undefined" },
    { __type: "Set", values: [1] },
  ];
}

/** Errors are compared by what they say. */
export const ERRORS: [string, Error][] = [
  ["an error", new Error("plain")],
  ["its kind", new RangeError("out of range")],
  ["its cause", new Error("outer", { cause: new TypeError("inner", { cause: { code: 7n } }) })],
  ["a cause that is undefined or a text", new Error("outer", { cause: "text" })],
  ["its members", Object.assign(new Error("failed"), { code: "E_FAILED", status: 500, when: new Date(1) })],
  ["a name of its own", Object.assign(new Error("aborted"), { name: "AbortError" })],
  ["what it is made of", new AggregateError([new Error("one"), new TypeError("two")], "both")],
  [
    "a class of one's own",
    new (class QuotaError extends Error {
      override name = "QuotaError";
      left = 3;
    })("no quota"),
  ],
];

const tool_calls = [
  { id: "c1", name: "search", args: { query: "q", deep: { list: [1, null, { a: "b" }] } }, type: "tool_call" as const },
];
const tool_call_chunks = [
  { id: "c1", name: "search", args: '{"q":"first"}', index: 0, type: "tool_call_chunk" as const },
];
const BLOCKS = [
  { type: "text", text: "calling" },
  { type: "tool_call", id: "c1", name: "search", args: {} },
];
const usage_metadata = {
  input_tokens: 10,
  output_tokens: 20,
  total_tokens: 30,
  input_token_details: { cache_read: 5 },
};

export const MESSAGES: [string, BaseMessage][] = [
  ["human", new HumanMessage({ id: "h", name: "Ann", content: "hello", additional_kwargs: { a: { b: 1 } } })],
  ["without an id", new HumanMessage("hello")],
  [
    "content blocks",
    new HumanMessage({
      id: "b",
      content: [
        { type: "text", text: "look" },
        { type: "image_url", image_url: { url: "data:image/png;base64,AAAA" } },
        { type: "image", mimeType: "image/png", data: new Uint8Array([1, 2, 3]) } as never,
      ],
    }),
  ],
  [
    "an answer with tool calls",
    with_(new AIMessage({ id: "a", content: "", tool_calls }), {
      usage_metadata,
      response_metadata: { model_name: "m", finish_reason: "tool_calls" },
      invalid_tool_calls: [{ id: "x", name: "bad", args: "{", error: "no JSON", type: "invalid_tool_call" }],
    }),
  ],
  [
    "raw tool calls that the state had dropped",
    with_(
      new AIMessage({
        id: "raw",
        content: "",
        additional_kwargs: { tool_calls: [{ id: "c", type: "function", function: { name: "f", arguments: "{}" } }] },
      }),
      { tool_calls: [] },
    ),
  ],
  ["system", new SystemMessage({ id: "s", content: "be brief" })],
  [
    "a tool's result",
    new ToolMessage({ id: "t", tool_call_id: "c1", content: "found", status: "success", artifact: { rows: [1n] } }),
  ],
  [
    "a tool's failure",
    new ToolMessage({ id: "t2", tool_call_id: "c1", content: "no", status: "error", name: "search" }),
  ],
  ["chat", new ChatMessage({ id: "ch", role: "critic", content: "hm" })],
  ["function", new FunctionMessage({ id: "f", name: "fn", content: "1" })],
  ["remove", new RemoveMessage({ id: "gone" })],
  ["human chunk", new HumanMessageChunk({ id: "hc", content: "he" })],
  ["system chunk", new SystemMessageChunk({ id: "sc", content: "sy" })],
  ["chat chunk", new ChatMessageChunk({ id: "cc", role: "critic", content: "h" })],
  ["tool chunk", new ToolMessageChunk({ id: "tc", tool_call_id: "c1", content: "fo" })],
  [
    "answer chunk",
    new AIMessageChunk({
      id: "ac",
      content: "",
      tool_call_chunks: [{ id: "c1", name: "search", args: '{"q":', index: 0, type: "tool_call_chunk" }],
    }),
  ],
  [
    "an answer in pieces, whose tool calls a human has edited",
    with_(new AIMessageChunk({ id: "ed", content: "", tool_call_chunks }), {
      tool_calls: [{ id: "c1", name: "search", args: { q: "other" }, type: "tool_call" }],
    }),
  ],
  [
    "an answer in pieces, whose tool calls a human has refused",
    with_(new AIMessageChunk({ id: "re", content: "", tool_call_chunks }), { tool_calls: [] }),
  ],
  [
    "standard blocks whose tool calls the state had dropped",
    with_(new AIMessage({ id: "v1", contentBlocks: BLOCKS } as never), { tool_calls: [] }),
  ],
  [
    "standard blocks without the call that the message makes",
    with_(new AIMessage({ id: "v1", contentBlocks: BLOCKS } as never), { content: BLOCKS.slice(0, 1) }),
  ],
  ["with an id and a name that went", without(new AIMessage({ id: "i", name: "n", content: "" }), "id", "name")],
  ["with an id that came later", with_(new AIMessage("later"), { id: "later" })],
  ["with a member the class doesn't know", with_(new AIMessage("extra"), { extra: { a: new Date(1) } })],
];

class Opaque {
  readonly value = 1;
}

/** What can't be kept, and what the refusal calls it. */
export const REFUSED: [string, unknown][] = [
  ["a function", () => 1],
  ["a symbol", Symbol("s")],
  ["an instance of a class", new Opaque()],
  ["a WeakMap", new WeakMap()],
  ["a promise", Promise.resolve(1)],
  ["a boxed value", Object(1n)],
  ["bytes of an own class", new (class Own extends Uint8Array {})(2)],
  ["a list of an own class", new (class Own extends Array {})(2)],
  ["a map of an own class", new (class Own extends Map {})()],
  ["a list with further members", "a-b".match(/-/)],
  ["a list of objects with further members", with_([{ a: 1 }], { columns: ["a"] })],
  ["a list of objects of an own class", class Own extends Array {}.from([{ a: 1 }])],
  ["a list with empty places", new Array(3)],
  ["a list of objects with empty places", Object.assign(new Array(3), { 1: { a: 1 } })],
  ["a list with a symbol member", with_([1], { [Symbol.for("s")]: 1 })],
  ["a Date with a member", with_(new Date(0), { zone: "UTC" })],
  ["bytes with a member", with_(new Uint8Array([1]), { unit: "ms" })],
  ["numbers with a symbol member", with_(new Float64Array([Number.NaN]), { [Symbol("unit")]: "ms" })],
  ["a Buffer with a member", with_(Buffer.from("text"), { encoding: "utf8" })],
  ["a DataView with a member", with_(new DataView(new ArrayBuffer(2), 1), { at: 0 })],
  ["a Map with a member", with_(new Map(), { size_before: 1 })],
  ["an ArrayBuffer with a member", with_(new ArrayBuffer(2), { name: "file" })],
  ["an ArrayBuffer of an own class", new (class Own extends ArrayBuffer {})(2)],
  ["a document with a member that it does not know", with_(new Document({ pageContent: "" }), { score: 1 })],
  ["a document of an own class", new (class Own extends Document {})({ pageContent: "" })],
  ["an error whose message is no text", with_(new Error("no"), { message: 5n })],
  ["an error whose name is no text", with_(new Error("no"), { name: { first: 1 } })],
  ["what throws when it is read", unreadable()],
  ["what only looks like a Date", Object.setPrototypeOf({}, Date.prototype)],
  ["an object without a prototype, with a symbol member", with_(Object.create(null), { [Symbol.for("s")]: 1 })],
  ["an object with a symbol member", { [Symbol.for("s")]: 1 }],
  ["an object that is nested too deep", nested((inner) => ({ inner }))],
  ["a list that is nested too deep", nested((inner) => [inner])],
  ["lists in objects that are nested too deep", nested((inner) => ({ list: [inner] }))],
  ["a cycle", cycle()],
  ["a cycle through lists", cycleThroughLists()],
];

function unreadable(): unknown {
  return {
    get member() {
      throw new Error("not now");
    },
  };
}

function cycle(): unknown {
  const object: Record<string, unknown> = { a: 1 };
  object["self"] = { deeper: object };
  return object;
}

function cycleThroughLists(): unknown {
  const list: unknown[] = [];
  list.push({ list: [{ back: list }] });
  return list;
}

function nested(within: (inner: unknown) => unknown): unknown {
  let value: unknown = 1;
  for (let i = 0; i < 20_000; i++) value = within(value);
  return value;
}

function without<T extends object>(target: T, ...members: (keyof T)[]): T {
  for (const member of members) delete target[member];
  return target;
}

function with_<T extends object>(target: T, members: Record<PropertyKey, unknown>): T {
  return Object.assign(target, members);
}
