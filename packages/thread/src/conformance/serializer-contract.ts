import type { SerializerProtocol } from "@langchain/langgraph-checkpoint";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { StrictSerializer } from "../checkpoint/serializer.ts";
import { anyValue } from "./any-value.ts";
import { comparable } from "./checkpoint-line.ts";
import { expectSame } from "./expect-same.ts";
import { ERRORS, MESSAGES, REFUSED, SAMPLES } from "./sample-values.ts";

const RUNS = 300;

/** Values come back as they went in; what can't is refused, naming the path to it. */
export function serializerContract(create: () => SerializerProtocol = () => new StrictSerializer()): void {
  const roundTrip = async (value: unknown) => {
    const serializer = create();
    const [type, data] = await serializer.dumpsTyped(value);
    return create().loadsTyped(type, data);
  };

  describe("values come back as they went in", () => {
    it.each(SAMPLES)("%s", async (_, value) => {
      expect(await roundTrip(value)).toStrictEqual(value);
      expect(await roundTrip({ a: [value, { b: value }] })).toStrictEqual({ a: [value, { b: value }] });
      expect(await roundTrip(new Map([["a", value]]))).toStrictEqual(new Map([["a", value]]));
    });

    it.each(MESSAGES)("a message: %s", async (_, message) => {
      const back = await roundTrip([message]);
      expect(comparable(back)).toStrictEqual(comparable([message]));
      expect((back as object[])[0]).toBeInstanceOf(message.constructor);
    });

    it.each(ERRORS)("an error: %s", async (_, error) => {
      const back = (await roundTrip(error)) as Error;
      expect(back).toBeInstanceOf(Error);
      expect(described(back)).toStrictEqual(described(error));
    });

    it("whatever it is made of", async () => {
      await fc.assert(
        fc.asyncProperty(anyValue(), async (value) => {
          expectSame(await roundTrip(value), value);
        }),
        { numRuns: RUNS },
      );
    });
  });

  describe("what can't be kept is refused", () => {
    it.each(REFUSED)("%s", async (_, value) => {
      const refused = create().dumpsTyped({ ok: 1, here: [{ value }] });
      await expect(refused).rejects.toMatchObject({ code: "unserializable_value" });
      await expect(refused).rejects.toThrow(/\.here\[0\]\.value/);
    });
  });
}

/** An error by what it says, causes and members included. */
function described(error: unknown): unknown {
  if (!(error instanceof Error)) return error;
  const { name, message, stack, cause } = error;
  const errors = (error as AggregateError).errors?.map(described);
  return { name, message, stack, cause: described(cause), members: { ...error }, errors };
}
