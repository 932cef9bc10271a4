const TEXT = "a sentence of an answer ".repeat(18);

/** Something large that a state may hold, of which a step changes a little. */
interface Shape<T> {
  name: string;
  begin(): T;
  change(value: T, n: number): T;
  /** Bytes that a step may take. */
  atMost: number;
}

function many<T>(count: number, make: (n: number) => T): T[] {
  return Array.from({ length: count }, (_, n) => make(n));
}

const small = (n: number) => ({ n, text: `number ${n}` });
const byKey = <T>(count: number, make: (n: number) => T) =>
  Object.fromEntries(many(count, (n) => [`key ${n}`, make(n)]));

export const shapes = [
  {
    name: "a list of texts that slides",
    begin: () => many(5_000, (n) => `text ${n}`),
    change: (list: string[], n) => [...list.slice(1), `new ${n}`],
    atMost: 8_000,
  } satisfies Shape<string[]>,
  {
    name: "a vector of which one number changes",
    begin: () => many(5_000, (n) => Math.sin(n)),
    change: (list: number[], n) => list.with((n * 400) % 5_000, n),
    atMost: 10_000,
  } satisfies Shape<number[]>,
  {
    name: "a map of numbers that grows",
    begin: () => byKey(5_000, (n) => n),
    change: (map: Record<string, number>, n) => ({ ...map, [`new ${n}`]: n }),
    atMost: 8_000,
  } satisfies Shape<Record<string, number>>,
  {
    name: "a map of objects of which one changes",
    begin: () => byKey(3_000, small),
    change: (map: Record<string, object>, n) => ({ ...map, [`key ${(n * 200) % 3_000}`]: small(-n) }),
    atMost: 8_000,
  } satisfies Shape<Record<string, object>>,
  {
    name: "a map of long texts of which one changes",
    begin: () => byKey(30, (n) => `${n} ${TEXT}`.repeat(4)),
    change: (map: Record<string, string>, n) => ({ ...map, [`key ${(n * 2) % 30}`]: `new ${n} ${TEXT}`.repeat(4) }),
    atMost: 4_000,
  } satisfies Shape<Record<string, string>>,
  {
    name: "a Map that grows",
    begin: () => new Map(many(3_000, (n) => [n, small(n)] as const)),
    change: (map: Map<number, object>, n) => new Map([...map, [-n, small(-n)] as const]),
    atMost: 8_000,
  } satisfies Shape<Map<number, object>>,
  {
    name: "a Set that grows",
    begin: () => new Set(many(5_000, (n) => `text ${n}`)),
    change: (set: Set<string>, n) => new Set([...set, `new ${n}`]),
    atMost: 8_000,
  } satisfies Shape<Set<string>>,
  {
    name: "a list of times that slides",
    begin: () => many(5_000, (n) => new Date(n * 60_000).toISOString()),
    change: (list: string[], n) => [...list.slice(1), new Date((5_000 + n) * 60_000).toISOString()],
    atMost: 8_000,
  } satisfies Shape<string[]>,
  {
    name: "a Map of a list that grows",
    begin: () => new Map([["list", many(1_000, small)]]),
    change: (map: Map<string, object[]>, n) => new Map([["list", [...(map.get("list") ?? []), small(-n)]]]),
    atMost: 1_000,
  } satisfies Shape<Map<string, object[]>>,
  {
    name: "a map of lists of which one grows",
    begin: () => byKey(100, (n) => many(20, (i) => small(100 * n + i))),
    change: (map: Record<string, object[]>, n) => ({ ...map, "key 7": [...(map["key 7"] ?? []), small(-n)] }),
    atMost: 10_000,
  } satisfies Shape<Record<string, object[]>>,
];
