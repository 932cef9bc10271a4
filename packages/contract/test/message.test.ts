import fc from "fast-check";
import { describe, expect, it } from "vitest";
import {
  DEFAULT_MAX_CONTENT_BYTES,
  exceedsBytes,
  ListMessages,
  MAX_CONTENT_BLOCKS,
  MAX_JSON_DEPTH,
  Message,
  messageContent,
  SendMessage,
  utf8Length,
} from "../src/index.ts";
import { message } from "./examples.ts";
import { refusal } from "./refusal.ts";

function nested(depth: number): unknown {
  let value: unknown = 1;
  for (let i = 0; i < depth; i++) value = { a: value };
  return value;
}

describe("Message", () => {
  it("parses to itself, with text or blocks", () => {
    expect(Message.parse(message)).toEqual(message);
    const blocks = {
      ...message,
      content: [
        { type: "text", text: "hi" },
        { type: "image", url: "x" },
      ],
    };
    expect(Message.parse(blocks)).toEqual(blocks);
  });

  it("refuses a block without a type, another role, a field more", () => {
    expect(Message.safeParse({ ...message, content: [{ text: "hi" }] }).success).toBe(false);
    expect(Message.safeParse({ ...message, role: "human" }).success).toBe(false);
    expect(Message.safeParse({ ...message, extra: 1 }).success).toBe(false);
  });

  it("keeps tool arguments as they were written", () => {
    const args = JSON.parse('{"__proto__": {"a": 1}, "constructor": 2}');
    const [call] = Message.parse({ ...message, tool_calls: [{ id: "1", name: "t", args }] }).tool_calls;
    expect(JSON.stringify(call?.args)).toBe('{"__proto__":{"a":1},"constructor":2}');
  });
});

describe("SendMessage", () => {
  it("fills defaults", () => {
    expect(SendMessage.parse({ content: "hi" })).toEqual({ content: "hi", on_busy: "enqueue" });
  });

  it("takes any text as it is", () => {
    for (const content of ["a\u0000b", "\ud800", "漢字 🧵", " ", "x".repeat(DEFAULT_MAX_CONTENT_BYTES)]) {
      expect(SendMessage.parse({ content }).content).toBe(content);
    }
  });

  it.each([
    ["no content", {}, "content must be a string or an array"],
    ["empty content", { content: "" }, "content must not be empty"],
    ["no blocks", { content: [] }, "content must not be empty"],
    ["too many blocks", { content: Array(MAX_CONTENT_BLOCKS + 1).fill({ type: "text" }) }, "limit of 1000 blocks"],
    ["deep blocks", { content: [{ type: "x", v: nested(100_000) }] }, `deeper than the limit of ${MAX_JSON_DEPTH}`],
    ["deep input", { content: "x", input: nested(MAX_JSON_DEPTH + 1) }, `deeper than the limit of ${MAX_JSON_DEPTH}`],
    ["an input that is no object", { content: "x", input: [1] }, "must be a JSON object"],
    ["a callback that is not http", { content: "x", callback_url: "file:///etc/passwd" }, "http or https"],
    ["a long callback", { content: "x", callback_url: `http://a/${"b".repeat(3000)}` }, "limit of 2048 characters"],
    ["another on_busy", { content: "x", on_busy: "wait" }, "on_busy"],
    ["unknown fields", { content: "x", modle: "y" }, "modle"],
  ])("refuses %s", (_, body, text) => {
    const error = refusal(SendMessage, body);
    expect(error.code).toBe("validation_failed");
    expect(error.message).toContain(text);
  });

  it("accepts nesting up to the limit", () => {
    expect(SendMessage.parse({ content: "x", input: nested(MAX_JSON_DEPTH) }).input).toEqual(nested(MAX_JSON_DEPTH));
  });

  it.each([
    ["text", "x".repeat(DEFAULT_MAX_CONTENT_BYTES + 1)],
    ["text of fewer characters than bytes", "漢".repeat(DEFAULT_MAX_CONTENT_BYTES / 3 + 1)],
    ["blocks", [{ type: "text", text: "x".repeat(DEFAULT_MAX_CONTENT_BYTES) }]],
  ])("refuses too large %s with its own code", (_, content) => {
    const error = refusal(SendMessage, { content });
    expect(error.code).toBe("content_too_large");
    expect(error.message).toContain("content is larger than the limit of 1048576 bytes");
  });

  it("can be given another limit", () => {
    const small = SendMessage.extend({ content: messageContent(4) });
    expect(small.parse({ content: "1234" }).content).toBe("1234");
    expect(refusal(small, { content: "12345" }).message).toContain("limit of 4 bytes");
  });
});

describe("byte lengths", () => {
  it("agree with the encoder", () => {
    const texts = fc.string({
      unit: fc.oneof(fc.string({ minLength: 1, maxLength: 1 }), fc.constantFrom("é", "漢", "🧵", "\ud800")),
    });
    fc.assert(
      fc.property(texts, fc.nat(40), (text, max) => {
        const bytes = new TextEncoder().encode(text).length;
        expect(utf8Length(text)).toBe(bytes);
        expect(exceedsBytes(text, max)).toBe(bytes > max);
      }),
    );
  });
});

describe("ListMessages", () => {
  it("fills defaults", () => {
    expect(ListMessages.parse({})).toEqual({ limit: 50, offset: 0, order: "desc" });
  });

  it("takes numbers from a query string", () => {
    expect(ListMessages.parse({ limit: "500", offset: "50", order: "asc", role: "tool" })).toEqual({
      limit: 500,
      offset: 50,
      order: "asc",
      role: "tool",
    });
  });

  it.each(["0", "501", "-1", "", " ", "1.5", "1e2", "0x10", "abc", "99999999999999999999"])(
    "refuses limit=%j",
    (limit) => {
      expect(refusal(ListMessages, { limit }).message).toContain("limit must be a whole number from 1 to 500");
    },
  );

  it.each(["-1", "", "x"])("refuses offset=%j", (offset) => {
    expect(refusal(ListMessages, { offset }).message).toContain("offset must be a whole number from 0");
  });

  it("refuses a repeated parameter", () => {
    expect(refusal(ListMessages, { limit: ["1", "2"] }).message).toContain("limit must be");
  });
});
