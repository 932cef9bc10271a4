import { expect, it } from "vitest";
import { compileJsonSchema, DEFINED_WITHIN_MS } from "../../src/tool/json-schema.ts";

const city = (more: object) => compileJsonSchema({ type: "object", properties: { city: { type: "string", ...more } } });

const listOf = (more: object) =>
  compileJsonSchema({ type: "object", properties: { list: { type: "array", ...more } } });
const VALUES = Array.from({ length: 5_000 }, (_, index) => `value ${index}`);

/** Each level is looked at twice, and so is each of those below it. */
const TWICE = {
  type: "object",
  anyOf: [{ properties: { a: { $ref: "#" } }, required: ["z"] }, { properties: { a: { $ref: "#" } } }],
};

it("says what does not fit, by a pattern too", () => {
  const check = city({ pattern: "^[A-Z]" });
  expect(check({ city: "Bonn" })).toBeUndefined();
  expect(check({ city: "bonn" })).toContain("must match pattern");
});

it.each([
  ["of zod and of newer servers", { prefixItems: [{ type: "string" }, { type: "number" }], items: false }],
  ["of older servers", { items: [{ type: "string" }, { type: "number" }], additionalItems: false }],
])("what stands at each place of an array, in the words %s", (_, words) => {
  const check = listOf({ items: { type: "array", minItems: 2, ...words } });
  expect(check({ list: [["Bonn", 50.7]] })).toBeUndefined();
  expect(check({ list: [[50.7, "Bonn"]] })).toContain("must be string");
  expect(check({ list: [["Bonn"]] })).toContain("fewer than 2");
  expect(check({ list: [["Bonn", 50.7, 7.1]] })).toContain("more than 2");
});

it("checks also a schema that asks for a promise", () => {
  const check = compileJsonSchema({ $async: true, type: "object", required: ["city"] });
  expect(check({})).toContain("must have required property");
});

it.each([
  ["a pattern", city({ pattern: "^(a+)+$" }), { city: `${"a".repeat(28)}!` }],
  [
    "a pattern of names",
    compileJsonSchema({ type: "object", patternProperties: { "^(a+)+$": {} }, additionalProperties: false }),
    { [`${"a".repeat(28)}!`]: 1 },
  ],
  [
    "items that must differ",
    listOf({ uniqueItems: true }),
    { list: Array.from({ length: 12_000 }, (_, x) => ({ x })) },
  ],
  ["one of many values", listOf({ items: { enum: VALUES } }), { list: Array(50_000).fill(VALUES.at(-1)) }],
  ["a form within itself", compileJsonSchema(TWICE), JSON.parse(`${'{"a":'.repeat(60)}1${"}".repeat(60)}`)],
])("%s that would take minutes holds nobody up, and is told", (_, check, value) => {
  const begun = performance.now();
  expect(check(value)).toContain("must be simpler");
  expect(performance.now() - begun).toBeLessThan(5_000);
  expect(check({})).toBeUndefined();
});

const times = (count: number, schema: object) => Array.from({ length: count }, () => schema);
const LEVELS = Array.from({ length: 8 }, (_, level) => [
  `level${level}`,
  { anyOf: times(9, { $ref: `#/$defs/level${level + 1}` }) },
]);

it.each([
  [
    "that multiplies what it refers to",
    { allOf: times(300, { $ref: "#/$defs/a" }), $defs: { a: { allOf: times(150, { type: "object" }) } } },
  ],
  [
    "of alternatives of alternatives",
    { anyOf: [{ $ref: "#/$defs/level0" }], $defs: { ...Object.fromEntries(LEVELS), level8: {} } },
  ],
])("a schema %s is refused before it has held anybody up", (_, schema) => {
  const begun = performance.now();
  expect(() => compileJsonSchema({ type: "object", ...schema }, DEFINED_WITHIN_MS)).toThrow("must be simpler");
  expect(performance.now() - begun).toBeLessThan(5_000);
  expect(() => city({})).not.toThrow();
});
