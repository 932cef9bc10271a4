import { expect, it } from "vitest";
import { expectSame } from "../src/conformance/expect-same.ts";
import { LONG_TEXT } from "../src/conformance/odd-text.ts";
import { SAMPLES } from "../src/conformance/sample-values.ts";

/** Without the one whose difference takes long to tell. */
const VALUES = SAMPLES.filter(([, value]) => value !== LONG_TEXT);

/** Pairs that a comparison of what is listed would take for the same. */
const ALIKE: [unknown, unknown][] = [
  [0, -0],
  [{ a: undefined }, {}],
  [{}, Object.create(null)],
  [[undefined], new Array(1)],
  [new Uint8Array([1]), Buffer.from([1])],
  [new Set([{ a: 1 }]), new Set([{ a: 2 }])],
  [new Map([[{ k: 1 }, 0]]), new Map([[{ k: 1 }, -0]])],
  [new Date(Number.NaN), new Date(0)],
  [/a/g, /a/i],
  [new URL("https://a.example"), new URL("https://b.example")],
  [new Uint8Array([1]).buffer, new Uint8Array([2]).buffer],
  [new DataView(new ArrayBuffer(1)), new DataView(new ArrayBuffer(2))],
  [new Error("a", { cause: 1 }), new Error("a", { cause: 2 })],
];

it("values are the same to the conformance suites when `toStrictEqual` says so, and only then", () => {
  for (const [name, value] of VALUES) {
    expectSame([value], [value], name);
    for (const [other, another] of VALUES.filter(([each]) => each !== name)) {
      expect(() => expectSame([value], [another], name), other).toThrow(name);
    }
  }
  for (const [n, [one, other]] of ALIKE.entries()) {
    const differs = () => expectSame({ at: [one] }, { at: [other] }, `pair ${n}`);
    expect(() => expect(one).toStrictEqual(other), `pair ${n}`).toThrow();
    expect(differs).toThrow(`pair ${n}`);
  }
});
