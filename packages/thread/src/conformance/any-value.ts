import fc from "fast-check";

/** Any nesting of what can be kept; members named "$" among them, since encodings like that name too. */
export function anyValue(): fc.Arbitrary<unknown> {
  const { tree } = fc.letrec<{ tree: unknown; long: unknown }>((tie) => ({
    tree: fc.oneof({ maxDepth: 4, withCrossShrink: true }, leaf(), ...containers(tie("tree")), tie("long")),
    // Never one inside of the other: 70 × 70 × 70 is much.
    long: long(fc.oneof(leaf(), ...containers(leaf()))),
  }));
  return tree;
}

function leaf(): fc.Arbitrary<unknown> {
  return fc.oneof(
    fc.string({ unit: "binary" }),
    fc.double(),
    fc.integer(),
    fc.boolean(),
    fc.bigInt(),
    fc.constantFrom(null, undefined, -0, "$", "list", "piece"),
    fc.date({ noInvalidDate: false }),
    fc.uint8Array({ maxLength: 20 }),
    fc.float64Array({ maxLength: 4 }),
  );
}

/** Past this a saver may store what is inside by itself. */
const MANY = 70;

/** What holds much: the same few members again and again, since only their number is new. */
function long(member: fc.Arbitrary<unknown>): fc.Arbitrary<unknown> {
  return fc.array(member, { minLength: 1, maxLength: 3 }).chain((few) => {
    const many = Array.from({ length: MANY }, (_, n) => few[n % few.length]);
    const pairs = many.map((one, n) => [`${n % 7}${"k".repeat(n)}`, one] as const);
    return fc.constantFrom<unknown>(
      many,
      Object.fromEntries(pairs),
      new Map<unknown, unknown>([...pairs, ...many.entries(), ...many.map((one) => [one, one] as const)]),
      new Set([...many, ...many.keys()]),
      { text: "long ".repeat(400), few },
    );
  });
}

function containers(member: fc.Arbitrary<unknown>): fc.Arbitrary<unknown>[] {
  const name = fc.oneof(
    fc.string({ maxLength: 5 }).filter((key) => key !== "__proto__"),
    fc.constantFrom("$", "v", "e", "p", "messages"),
  );
  const members = fc.dictionary(name, member, { maxKeys: 5, noNullPrototype: true });
  return [
    fc.array(member, { maxLength: 6 }),
    members,
    members.map((object) => Object.assign(Object.create(null), object)),
    fc.array(fc.tuple(member, member), { maxLength: 4 }).map((pairs) => new Map(pairs)),
    fc.array(member, { maxLength: 4 }).map((list) => new Set(list)),
  ];
}
