import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { createSseParser, type SseFrame } from "../src/sse-parser.ts";

const encode = (text: string) => new TextEncoder().encode(text);

function parse(bytes: Uint8Array, cuts: readonly number[] = []): SseFrame[] {
  const parser = createSseParser();
  const places = [...new Set(cuts.map((cut) => cut % (bytes.length + 1)))].sort((a, b) => a - b);
  const bounds = [0, ...places, bytes.length];
  return bounds.slice(1).flatMap((end, index) => parser.push(bytes.subarray(bounds[index], end)));
}

const message = (data: string, more: Partial<SseFrame> = {}) => ({ id: undefined, event: "message", data, ...more });

describe("the stream", () => {
  test.each([
    ["data: a\n\n", [message("a")]],
    ["data:a\n\n", [message("a")]],
    ["data:  a\n\n", [message(" a")]],
    ["data: a\ndata: b\n\n", [message("a\nb")]],
    ["data\n\n", [message("")]],
    ["data: a\r\n\r\ndata: b\r\rdata: c\n\n", [message("a"), message("b"), message("c")]],
    [":heartbeat\n\n: x\ndata: a\n\n", [message("a")]],
    ["\uFEFFdata: a\n\n", [message("a")]],
    ["id: 7\nevent: token\ndata: {}\n\n", [message("{}", { id: "7", event: "token" })]],
    ["id: 7\n\ndata: a\n\n", [{ id: "7", event: "message", data: undefined }, message("a")]],
    ["id: 7\0\ndata: a\n\n", [message("a")]],
    ["event: x\n\ndata: a\n\n", [message("a")]],
    ["data: a: b\n\n", [message("a: b")]],
    ["other: 1\ndata: a\n\n", [message("a")]],
    ["data: a\n\ndata: b\n", [message("a")]],
    ["data: a\n\ndata: b", [message("a")]],
  ])("%j", (text, frames) => {
    expect(parse(encode(text))).toEqual(frames);
  });

  test("says how long to wait before a reconnect, and nothing else may", () => {
    const parser = createSseParser();
    parser.push(encode("retry: 250\nretry: soon\nretry:\n\n"));
    expect(parser.retry).toBe(250);
  });
});

const field = fc.string({ unit: "binary" }).map((text) => text.replace(/[\r\n\0]/g, ""));
const eventOf = fc.record({
  id: fc.option(field, { nil: undefined }),
  event: field.filter((text) => text !== ""),
  data: fc.array(field, { minLength: 1, maxLength: 3 }),
  comment: field,
});
const breakOf = fc.constantFrom("\n", "\r", "\r\n");

test("whatever is written comes back, wherever the chunks are cut and however lines end", () => {
  fc.assert(
    fc.property(fc.array(eventOf), breakOf, fc.array(fc.nat(), { maxLength: 20 }), (events, end, cuts) => {
      const frames = events.map(({ id, event, data, comment }) => {
        const lines = [`:${comment}`, ...(id === undefined ? [] : [`id: ${id}`]), `event: ${event}`];
        return [...lines, ...data.map((line) => `data: ${line}`), "", ""].join(end);
      });
      const parsed = parse(encode(frames.join("")), cuts);
      const wellFormed = (text: string) => text.toWellFormed();
      expect(parsed).toEqual(
        events.map(({ id, event, data }) => ({
          id: id === undefined ? undefined : wellFormed(id),
          event: wellFormed(event),
          data: wellFormed(data.join("\n")),
        })),
      );
    }),
  );
});

test("cut at every single byte, it is the same stream", () => {
  const bytes = encode(
    'retry: 1\r\n\r\nid: 1\r\nevent: token\r\ndata: {"content":"Grüße 👋"}\r\n\r\n:h\n\nid: 2\rdata: a\rdata: b\r\r',
  );
  const whole = parse(bytes);
  expect(whole).toHaveLength(2);
  for (let cut = 0; cut <= bytes.length; cut++) expect(parse(bytes, [cut])).toEqual(whole);
  expect(
    parse(
      bytes,
      Array.from(bytes, (_, index) => index),
    ),
  ).toEqual(whole);
});

test("a line of many megabytes is looked through once, however small its chunks are", () => {
  const long = "x".repeat(24 * 1024 * 1024);
  const bytes = encode(`id: 1\ndata: ${long}\n\n`);
  const parser = createSseParser();
  const frames: SseFrame[] = [];
  // Looked through anew with each chunk this takes minutes, and the test runs out of time.
  for (let at = 0; at < bytes.length; at += 4096) frames.push(...parser.push(bytes.subarray(at, at + 4096)));
  expect(frames.map(({ id, data }) => [id, data?.length])).toEqual([["1", long.length]]);
});

test("any bytes at all are read without an error", () => {
  fc.assert(
    fc.property(fc.uint8Array({ maxLength: 200 }), (bytes) => {
      expect(() => parse(bytes)).not.toThrow();
    }),
  );
});
