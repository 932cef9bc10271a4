import fc from "fast-check";

const DEEP = 100_000;
const LONG = "x".repeat(300_000);

/** No address here leads off this machine: what is accepted may be called. */
const ODD_TEXTS = [
  "",
  " ",
  "\u0000",
  "a\u0000b",
  "\ud800",
  "a\udfffb",
  "\u202egnp.exe",
  "\ufeff",
  "e\u0301\u0301\u0301",
  "👩‍👩‍👧‍👦",
  "\r\nX-Injected: 1",
  "'; drop table sessions; --",
  '" or ""="',
  "%' escape '\\",
  "\\",
  "{{7*7}}#{7*7}",
  "<script>alert(1)</script>",
  "../../../../etc/passwd",
  "..%2f..%2f",
  "/etc/passwd",
  "C:\\windows",
  "file:///etc/passwd",
  "http://127.0.0.1:1/",
  "http://[::1]:1/",
  "http://169.254.169.254/latest",
  "javascript:alert(1)",
  "__proto__",
  "constructor",
  "toString",
  "null",
  "NaN",
  "1e999",
  "-1",
  "0x10",
  "00000000-0000-0000-0000-000000000000",
  "2026-02-30",
  "a".repeat(256),
  "a".repeat(5_000),
];

const ODD_NUMBERS = [-1, 0, 1, 0.5, -0, 1e21, 1e308, 2 ** 31, 2 ** 53, 2 ** 63, -(2 ** 63), Number.MIN_VALUE];

export const oddText = fc.oneof(
  { weight: 4, arbitrary: fc.constantFrom(...ODD_TEXTS) },
  { weight: 2, arbitrary: fc.string({ unit: "binary", maxLength: 40 }) },
  { weight: 1, arbitrary: fc.string({ unit: "grapheme", maxLength: 40 }) },
);

const oddObject = fc.constantFrom<unknown>(
  {},
  { $gt: "" },
  { $ne: null },
  { type: "text" },
  { constructor: { prototype: { polluted: true } } },
  JSON.parse('{"__proto__": {"polluted": true}}'),
  { toString: "x", length: 3 },
  nested(200),
);

/** Any JSON that a field may not expect. */
export const oddValue: fc.Arbitrary<unknown> = fc.oneof(
  { weight: 6, arbitrary: oddText },
  { weight: 3, arbitrary: fc.constantFrom<unknown>(...ODD_NUMBERS) },
  { weight: 2, arbitrary: fc.constantFrom<unknown>(null, true, false, [], [[]], [null], ["a", 1]) },
  { weight: 3, arbitrary: oddObject },
  { weight: 2, arbitrary: fc.jsonValue({ maxDepth: 3 }) },
  { weight: 1, arbitrary: fc.array(oddText, { maxLength: 3 }) },
);

/** Bodies that are not, or hardly, JSON. */
export const oddBody: fc.Arbitrary<string | Buffer> = fc.oneof(
  {
    weight: 4,
    arbitrary: fc.constantFrom<string | Buffer>(
      "",
      "   ",
      "null",
      "[]",
      '"text"',
      "1e999",
      "-0",
      "{",
      '{"content": }',
      '{"a":1,"a":2}',
      '{"content":"a","content":"b"}',
      "[".repeat(DEEP),
      `${"[".repeat(DEEP)}${"]".repeat(DEEP)}`,
      `${'{"a":'.repeat(DEEP)}1${"}".repeat(DEEP)}`,
      "\ufeff{}",
      Buffer.from([0xff, 0xfe, 0x7b, 0x7d]),
      Buffer.from([0x7b, 0x22, 0xc3, 0x28, 0x22, 0x7d]),
      Buffer.from("{}", "utf16le"),
      JSON.stringify({ content: LONG, title: LONG, name: LONG }),
      JSON.stringify(Object.fromEntries(Array.from({ length: 2_000 }, (_, index) => [`field${index}`, index]))),
    ),
  },
  { weight: 3, arbitrary: fc.json({ maxDepth: 4 }) },
  { weight: 1, arbitrary: fc.string({ unit: "binary", maxLength: 60 }) },
  { weight: 1, arbitrary: fc.uint8Array({ maxLength: 60 }).map((bytes) => Buffer.from(bytes)) },
);

/** More than any body may be; rare, since it takes long to send. */
export const HUGE_BODY = Buffer.alloc(17 * 1024 * 1024, "x");

function nested(depth: number): unknown {
  let value: unknown = 1;
  for (let level = 0; level < depth; level++) value = { a: value };
  return value;
}
