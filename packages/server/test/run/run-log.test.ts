import type { ClaimedRun, NewEvent } from "@cognition/thread";
import { describe, expect, it } from "vitest";
import { createRunLog } from "../../src/run/run-log.ts";

const WORDS = Array.from({ length: 30 }, (_, i) => `word${i} `);

function openLog() {
  const written: NewEvent[][] = [];
  const saver = {
    appendEvents: async (_thread: string, _lease: unknown, events: NewEvent[]) => void written.push(events),
    flush: async () => undefined,
  };
  const log = createRunLog(saver, { thread_id: "t", next_ordinal: 5 } as ClaimedRun, { run_id: "r", epoch: 1 });
  return { log, written: () => written.flat() };
}

describe("the text of a model", () => {
  it("that comes at once is a few events with all of it, in order", async () => {
    const { log, written } = openLog();
    for (const content of WORDS) void log.stream("token", { message_id: "m", content });
    await log.flush();
    const events = written();
    expect(events.length).toBe(9);
    expect(events.slice(0, 3).map(({ data }) => data["content"])).toEqual(WORDS.slice(0, 3));
    expect(events.map(({ data }) => data["content"]).join("")).toBe(WORDS.join(""));
    expect(events.map(({ ordinal }) => ordinal)).toEqual([5, 6, 7, 8, 9, 10, 11, 12, 13]);
  });

  it("is heard from its first piece on, though all of it comes at once", async () => {
    const { log, written } = openLog();
    log.hold("status", { status: "thinking" });
    const [first, ...rest] = WORDS.slice(0, 3).map((content) => log.stream("token", { message_id: "m", content }));
    expect(written().map(({ event }) => event)).toEqual(["status", "token"]);
    await first;
    expect(rest).toEqual([undefined, undefined]);
    await log.flush();
    expect(written()).toHaveLength(4);
  });

  it("is never joined with another message's, with its own reasoning, or with what is already on its way", async () => {
    const { log, written } = openLog();
    for (const content of WORDS) void log.stream("token", { message_id: "m", content });
    void log.stream("token", { message_id: "other", content: "mine" });
    void log.stream("reasoning", { message_id: "other", content: "why" });
    log.release();
    void log.stream("reasoning", { message_id: "other", content: "later" });
    await log.flush();
    const last = written().slice(-3);
    expect(last.map(({ event, data }) => [event, data["message_id"], data["content"]])).toEqual([
      ["token", "other", "mine"],
      ["reasoning", "other", "why"],
      ["reasoning", "other", "later"],
    ]);
  });

  it("that comes piece by piece is an event for each", async () => {
    const { log, written } = openLog();
    for (const content of WORDS) {
      void log.stream("token", { message_id: "m", content });
      await new Promise((resolve) => setTimeout(resolve, 1));
    }
    await log.flush();
    expect(written().map(({ data }) => data["content"])).toEqual(WORDS);
  });
});
