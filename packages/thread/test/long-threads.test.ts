import { setImmediate as turn } from "node:timers/promises";
import { HumanMessage } from "@langchain/core/messages";
import { describe, expect, it } from "vitest";
import { put } from "../src/conformance/checkpoint-line.ts";
import type { Database } from "../src/sql/database.ts";
import { savers } from "./checkpoint-database.ts";

const MESSAGES = 6_000;
/** More rows than this are not read at a time. */
const PORTION = 500;

/** How many turns of the event loop others had while the work was done. */
async function turnsDuring(work: () => Promise<unknown>): Promise<number> {
  let [turns, isOver] = [0, false];
  const others = (async () => {
    for (; !isOver; turns++) await turn();
  })();
  try {
    await work();
  } finally {
    isOver = true;
  }
  await others;
  return turns;
}

describe.each(savers)("a long conversation on $name", ({ run }) => {
  it("is read in portions, with turns for others in between", () => {
    const read: number[] = [];
    const counted = (db: Database): Database => ({
      ...db,
      readAll: async (...asked) => {
        const results = await db.readAll(...asked);
        read.push(...results.map(({ rows }) => rows.length));
        return results;
      },
    });
    return run(async ({ saver, another }) => {
      const messages = Array.from(
        { length: MESSAGES },
        (_, n) => new HumanMessage({ id: `${n}`, content: `says ${n}` }),
      );
      const { config } = await put(saver, "t", { messages });
      let tuple: Awaited<ReturnType<typeof saver.getTuple>>;
      read.length = 0;
      const turns = await turnsDuring(async () => {
        tuple = await another().getTuple(config);
      });
      expect(tuple?.checkpoint.channel_values["messages"]).toEqual(messages);
      expect(Math.max(...read)).toBe(PORTION);
      expect(turns).toBeGreaterThan(3);
    }, counted);
  });
});
