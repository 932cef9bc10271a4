import fc from "fast-check";

/** Any nesting of what can be kept; members named "$" among them, since encodings like that name too. */
export function anyValue(): fc.Arbitrary<unknown> {
  const { tree } = fc.letrec<{ tree: unknown }>((tie) => ({
    tree: fc.oneof({ maxDepth: 4, withCrossShrink: true }, leaf(), ...containers(tie("tree"))),
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
