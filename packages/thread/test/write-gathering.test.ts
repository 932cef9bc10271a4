import { expect, test } from "vitest";
import { WriteGathering } from "../src/sql/write-gathering.ts";

/** A process whose clock and event loop the test turns by hand: what each turn takes, and how many writes it brings. */
function scene({ commitMs, turns }: { commitMs: number; turns: { ms: number; writes: number }[] }) {
  let now = 0;
  let waiting = 1;
  let taken = 0;
  const gathering = new WriteGathering({
    now: () => now,
    nextTurn: async () => {
      const { ms, writes } = turns[taken++] ?? { ms: 0, writes: 0 };
      now += ms;
      waiting += writes;
    },
  });
  function pass(ms: number): void {
    now += ms;
  }
  // Often enough for the average to be what a commit takes.
  for (let i = 0; i < 100; i++) gathering.time(() => pass(commitMs));
  return {
    gathering,
    pass,
    gather: async () => {
      await gathering.gather(() => waiting);
      return { taken, waiting };
    },
  };
}

const busy = (many: number) => Array.from({ length: many }, () => ({ ms: 1, writes: 0 }));

test("a lone writer never waits, however busy the process is, nor the next one after it", async () => {
  const { gathering, gather } = scene({ commitMs: 2, turns: busy(50) });
  for (const writer of ["a", "a", "a", "b", "b"]) gathering.note(writer);
  expect(await gather()).toEqual({ taken: 0, waiting: 1 });
});

test("of several, a commit waits until each has brought a write", async () => {
  const { gathering, gather } = scene({
    commitMs: 2,
    turns: [{ ms: 1, writes: 1 }, { ms: 1, writes: 1 }, ...busy(50)],
  });
  for (const writer of ["a", "b", "c"]) gathering.note(writer);
  expect(await gather()).toEqual({ taken: 2, waiting: 3 });
});

test("and for no longer than eight commits take, nor than 20 ms", async () => {
  const quick = scene({ commitMs: 2, turns: busy(50) });
  for (const writer of ["a", "b", "c"]) quick.gathering.note(writer);
  expect((await quick.gather()).taken).toBeLessThanOrEqual(16);

  const slow = scene({ commitMs: 100, turns: busy(50) });
  for (const writer of ["a", "b", "c"]) slow.gathering.note(writer);
  expect((await slow.gather()).taken).toBe(20);
});

test("nobody waits in a process that has nothing else to do", async () => {
  const { gathering, gather } = scene({ commitMs: 2, turns: [{ ms: 0.01, writes: 0 }] });
  for (const writer of ["a", "b", "c"]) gathering.note(writer);
  expect((await gather()).taken).toBe(1);
});

test("a writer that has not written for a while is not waited for", async () => {
  const { gathering, gather, pass } = scene({ commitMs: 2, turns: busy(50) });
  for (const writer of ["a", "b"]) gathering.note(writer);
  pass(100);
  for (const writer of ["c", "d"]) gathering.note(writer);
  expect((await gather()).taken).toBe(0);
});
