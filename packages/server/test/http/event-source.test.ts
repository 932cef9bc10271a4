import type { StoredEvent } from "@cognition/contract";
import { expect, it } from "vitest";
import { createEventSource } from "../../src/http/event-source.ts";

function event(id: number, name: StoredEvent["event"]): StoredEvent {
  return { id, event: name, run_id: "r", session_id: "s", data: {}, created_at: "" } as unknown as StoredEvent;
}

async function textOf(batch: StoredEvent[], wanted: readonly string[]): Promise<string> {
  const source = createEventSource({
    log: {
      // Ends with its session and not before, as a log does.
      followEventBatches: async function* () {
        yield batch;
        yield [event(99, "token")];
      },
    },
    session_id: "s",
    after: 0,
    opening: "",
    accepts: ({ event: name }) => wanted.includes(name),
    closes: ({ event: name }) => name === "interrupt",
  });
  let text = "";
  for (let step = await source.next(); !step.done; step = await source.next()) text += step.value;
  return text;
}

it("nothing follows what closes a stream, though the log has more already", async () => {
  const batch = [event(1, "token"), event(2, "interrupt"), event(3, "token")];
  const ids = (text: string) => [...text.matchAll(/^id: (\d+)$/gm)].map(([, id]) => Number(id));
  expect(ids(await textOf(batch, ["token", "interrupt"]))).toEqual([1, 2]);
  expect(ids(await textOf(batch, ["token"]))).toEqual([1]);
  expect(ids(await textOf(batch, []))).toEqual([]);
});

it("lets go of the log when its reader goes, and when it closes by itself", async () => {
  let left = 0;
  const log = {
    followEventBatches: async function* () {
      try {
        for (let id = 1; ; id++) yield [event(id, id === 3 ? "interrupt" : "token")];
      } finally {
        left++;
      }
    },
  };
  const open = (closes: (event: StoredEvent) => boolean) =>
    createEventSource({ log, session_id: "s", after: 0, opening: "", accepts: () => true, closes });
  const cut = open(() => false);
  for (const _ of ["opening", "first"]) await cut.next();
  await cut.return();
  expect(left).toBe(1);
  const closing = open(({ event: name }) => name === "interrupt");
  for (let step = await closing.next(); !step.done; step = await closing.next());
  expect(left).toBe(2);
});
