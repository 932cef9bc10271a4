import { AppError, type StoredEvent } from "@cognition/contract";
import { openStorage, type Storage } from "@cognition/thread";
import { afterEach, describe, expect, it } from "vitest";
import { createMigratedDatabase } from "../../../thread/test/migrated-database.ts";
import type { Executor, RunResult, RunWork } from "../../src/run/executor.ts";
import { createRunEngine, type RunEngine, type RunEngineOptions } from "../../src/run/run-engine.ts";

const SUCCEEDED: RunResult = { outcome: "succeeded", usage: null };

const open = {
  memory: async () => ({ storage: await openStorage("memory"), drop: async () => {} }),
  postgres: async () => {
    const database = await createMigratedDatabase();
    return { storage: await openStorage({ uri: database.url, pool: { min: 0, max: 6 } }), drop: database.drop };
  },
};

const cleanups: (() => Promise<void>)[] = [];
afterEach(async () => {
  for (const clean of cleanups.splice(0).reverse()) await clean();
});

async function start(
  backend: keyof typeof open,
  execute: Executor["execute"],
  options: Partial<RunEngineOptions> = {},
): Promise<{ storage: Storage; engine: RunEngine; settled: string[]; errors: unknown[] }> {
  const { storage, drop } = await open[backend]();
  cleanups.push(async () => {
    await storage.close();
    await drop();
  });
  return { storage, ...(await startEngine(storage, execute, options)) };
}

async function startEngine(
  storage: Storage,
  execute: Executor["execute"],
  options: Partial<RunEngineOptions> = {},
  settle: Executor["settle"] = async () => ({ usage: null }),
) {
  const settled: string[] = [];
  const errors: unknown[] = [];
  const executor: Executor = {
    execute,
    settle: async (work) => {
      settled.push(work.claimed.run_id);
      return settle(work);
    },
  };
  const engine = createRunEngine({
    storage,
    saver: await storage.getCheckpointer(),
    executor,
    owner: "test",
    poll_ms: 20,
    onError: (error) => errors.push(error),
    ...options,
  });
  engine.start();
  cleanups.push(() => engine.drain(0));
  return { engine, settled, errors };
}

async function submit(engine: RunEngine, session_id: string, content = "hello") {
  return (await engine.submit({ session_id, message: { role: "user", content }, input: { content } })).run;
}

/** The session's events up to the end of so many runs. */
async function eventsUntilDone(storage: Storage, session_id: string, runs = 1): Promise<StoredEvent[]> {
  const events: StoredEvent[] = [];
  const signal = AbortSignal.timeout(50_000);
  let ended = 0;
  for await (const event of storage.followEvents({ session_id, after: 0, signal })) {
    events.push(event);
    if (event.event === "done" && ++ended === runs) return events;
  }
  throw new Error(`only ${ended} of ${runs} runs ended: ${events.map(({ event }) => event).join(" ")}`);
}

function untilAborted({ signal }: RunWork): Promise<never> {
  return new Promise((_, reject) => {
    signal.addEventListener("abort", () => reject(signal.reason));
  });
}

function untilDrained({ drain }: RunWork): Promise<RunResult> {
  return new Promise((resolve) => {
    const leave = () => resolve({ outcome: "drained" });
    if (drain.aborted) leave();
    else drain.addEventListener("abort", leave);
  });
}

describe.each(["memory", "postgres"] as const)("the run engine on %s", (backend) => {
  it("does not claim its own run where a claim was under way when the process was kept busy past its lease", async () => {
    const { storage, drop } = await open[backend]();
    cleanups.push(async () => {
      await storage.close();
      await drop();
    });
    const lease_ms = 300;
    let block = false;
    const blocked = Promise.withResolvers<void>();
    const claimRun: Storage["claimRun"] = async (claim) => {
      if (!block) return storage.claimRun(claim);
      block = false;
      Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, lease_ms * 2);
      return storage.claimRun(claim).finally(blocked.resolve);
    };
    const execute = async () => {
      block = true;
      await blocked.promise;
      return SUCCEEDED;
    };
    const { engine } = await startEngine({ ...storage, claimRun }, execute, { lease_ms });
    const { id } = await storage.createSession({});
    const { id: run_id } = await submit(engine, id);
    await eventsUntilDone(storage, id);
    expect(await storage.getRun(run_id)).toMatchObject({ status: "succeeded", attempt: 1 });
  });

  it("goes on with the next in line as soon as a run has ended, whoever admitted it", async () => {
    const gate = Promise.withResolvers<void>();
    const execute = async () => {
      await gate.promise;
      return SUCCEEDED;
    };
    const { storage, engine } = await start(backend, execute, { poll_ms: 60_000 });
    const { id } = await storage.createSession({});
    await submit(engine, id);
    await expect.poll(() => engine.active.length).toBe(1);
    await storage.createRun({ session_id: id, input: { content: "as another node would" } });
    gate.resolve();
    expect((await eventsUntilDone(storage, id, 2)).filter(({ event }) => event === "done")).toHaveLength(2);
  });

  it.each([5.5, 9e18, 1e300])(
    "a run whose usage can't be stored (%d) ends, and its thread goes on",
    async (input_tokens) => {
      const odd = { input_tokens, output_tokens: 1, estimated_cost: null, provider: "p", model: "m" };
      const by_model = { m: { input_tokens, output_tokens: 1, estimated_cost: null } };
      let runs = 0;
      const execute = async (): Promise<RunResult> => {
        runs++;
        return runs === 1 ? { outcome: "succeeded", usage: { ...odd, by_model } } : SUCCEEDED;
      };
      const settle: Executor["settle"] = async () => ({ usage: { ...odd, by_model } });
      const { storage, drop } = await open[backend]();
      cleanups.push(drop, () => storage.close());
      const { engine, errors } = await startEngine(storage, execute, {}, settle);
      const { id } = await storage.createSession({});
      await submit(engine, id);
      await submit(engine, id);
      const events = await eventsUntilDone(storage, id, 2);
      expect(runs, String(errors)).toBe(2);
      const ends = events
        .filter(({ event }) => event === "done")
        .map(({ data }) => (data as { status: string }).status);
      expect(ends.at(-1)).toBe("succeeded");
    },
  );

  it("takes a message to its one end, each event in the log before the next", async () => {
    const { storage, engine } = await start(backend, async ({ log }) => {
      for (const content of ["a", "b", "c"]) log.emit("token", { content });
      return SUCCEEDED;
    });
    const session = await storage.createSession({});
    const run = await submit(engine, session.id);
    const events = await eventsUntilDone(storage, session.id);
    expect(events.map(({ id }) => id)).toEqual(events.map((_, i) => i + 1));
    expect(events.map(({ event, data }) => ("status" in data ? `${event}:${data.status}` : event))).toEqual([
      "status:queued",
      "status:thinking",
      "token",
      "token",
      "token",
      "status:idle",
      "done:succeeded",
    ]);
    expect(await storage.getRun(run.id)).toMatchObject({ status: "succeeded", attempt: 1 });
    expect((await storage.listMessagesForSession(session.id)).map(({ content }) => content)).toEqual(["hello"]);
  });

  it("gives a place that is free to the next in line, not to who has just had it; nothing waits for a poll", async () => {
    const gate = Promise.withResolvers<void>();
    const order: unknown[] = [];
    const execute: Executor["execute"] = async ({ claimed }) => {
      order.push(claimed.input);
      await gate.promise;
      return SUCCEEDED;
    };
    const { storage, engine } = await start(backend, execute, { max_runs: 1, poll_ms: 60_000 });
    const [a, b] = [await storage.createSession({}), await storage.createSession({})];
    await submit(engine, a.id, "a, first");
    await expect.poll(() => order, { timeout: 20_000 }).toHaveLength(1);
    await submit(engine, b.id, "b");
    await submit(engine, a.id, "a, second");
    gate.resolve();
    await eventsUntilDone(storage, a.id, 2);
    expect(order).toEqual([{ content: "a, first" }, { content: "b" }, { content: "a, second" }]);
  });

  it("never works on more runs than it has places, however many come at once", async () => {
    let [working, most] = [0, 0];
    const { storage, engine } = await start(
      backend,
      async () => {
        most = Math.max(most, ++working);
        await new Promise((resolve) => setTimeout(resolve, 5));
        working--;
        return SUCCEEDED;
      },
      { max_runs: 3, poll_ms: 60_000 },
    );
    const sessions = await Promise.all(Array.from({ length: 12 }, () => storage.createSession({})));
    await Promise.all(sessions.map(({ id }) => submit(engine, id)));
    for (const { id } of sessions) await eventsUntilDone(storage, id);
    expect(most).toBeLessThanOrEqual(3);
  });

  it("runs a session's messages one after the other, and different sessions side by side", async () => {
    const active = new Set<string>();
    const order: string[] = [];
    const together = Promise.withResolvers<void>();
    const { storage, engine } = await start(backend, async ({ claimed }) => {
      const { session } = claimed;
      expect(active).not.toContain(session.id);
      active.add(session.id);
      order.push(`${session.metadata["name"]}${(claimed.input as { content: string }).content}`);
      if (active.size === 2) together.resolve();
      await together.promise; // the first of each session has no end before both have begun
      active.delete(session.id);
      return SUCCEEDED;
    });
    const sessions = await Promise.all(["a", "b"].map((name) => storage.createSession({ metadata: { name } })));
    for (const n of ["1", "2", "3"]) for (const { id } of sessions) await submit(engine, id, n);
    for (const { id } of sessions) await eventsUntilDone(storage, id, 3);
    expect(order.filter((name) => name.startsWith("a"))).toEqual(["a1", "a2", "a3"]);
    expect(order.filter((name) => name.startsWith("b"))).toEqual(["b1", "b2", "b3"]);
  });

  it("refuses a message while busy if asked to, and lets another take over if asked to", async () => {
    const { storage, engine, settled } = await start(backend, async (work) =>
      (work.claimed.input as { content: string }).content === "long" ? untilAborted(work) : SUCCEEDED,
    );
    const { id: session_id } = await storage.createSession({});
    const long = await submit(engine, session_id, "long");
    await expect.poll(() => engine.active).toContain(long.id);
    const message = { role: "user" as const, content: "x" };
    await expect(engine.submit({ session_id, message, on_busy: "reject" })).rejects.toMatchObject({
      code: "session_busy",
    });
    await engine.submit({ session_id, message, input: { content: "next" }, on_busy: "interrupt" });
    const events = await eventsUntilDone(storage, session_id, 2);
    expect(events.filter(({ event }) => event === "done").map(({ data }) => "status" in data && data.status)).toEqual([
      "aborted",
      "succeeded",
    ]);
    expect(await storage.getRun(long.id)).toMatchObject({ status: "aborted" });
    expect(settled).toHaveLength(1);
  });

  it("sent again under its key, a message that took over leaves its own run alone", async () => {
    let signal: AbortSignal | undefined;
    const { storage, engine } = await start(backend, (work) => {
      ({ signal } = work);
      return untilAborted(work);
    });
    const { id: session_id } = await storage.createSession({});
    const message = { role: "user" as const, content: "x" };
    const idempotency = { key: "k", body_hash: "h" };
    const send = () => engine.submit({ session_id, message, on_busy: "interrupt", idempotency });
    const { run } = await send();
    await expect.poll(() => signal).toBeDefined();
    expect(await send()).toMatchObject({ created: false, run: { id: run.id } });
    expect(signal?.aborted).toBe(false);
    expect(await engine.abort(session_id)).toEqual([run.id]);
  });

  it("ends a run that was aborted, through another node, while it was about to ask a human", async () => {
    const asking = Promise.withResolvers<void>();
    const { storage, engine, settled } = await start(backend, async () => {
      await asking.promise;
      return { outcome: "waiting", interrupts: [{ id: "i", allowed_decisions: ["approve"] }] };
    });
    const { id: session_id } = await storage.createSession({});
    const run = await submit(engine, session_id);
    await expect.poll(() => engine.active).toEqual([run.id]);
    expect(await storage.requestAbort(session_id)).toEqual({ ended: [], marked: [run.id] });
    asking.resolve();
    await eventsUntilDone(storage, session_id);
    // At once, and not when its lease has run out.
    expect(await storage.getRun(run.id)).toMatchObject({ status: "aborted", attempt: 1 });
    expect(await storage.getSession(session_id)).toMatchObject({ status: "active" });
    expect(settled).toHaveLength(1);
  });

  it("aborts what runs and what waits in line, once each; and again when idle", async () => {
    const { storage, engine } = await start(backend, untilAborted);
    const { id: session_id } = await storage.createSession({});
    const runs = [await submit(engine, session_id), await submit(engine, session_id)];
    await expect.poll(() => engine.active).toEqual([runs[0]?.id]);
    expect((await engine.abort(session_id)).sort()).toEqual(runs.map(({ id }) => id).sort());
    const events = await eventsUntilDone(storage, session_id, 2);
    expect(events.filter(({ event }) => event === "done")).toHaveLength(2);
    expect(await engine.abort(session_id)).toEqual([]);
  });

  it("keeps a failure's code and text, and the session takes the next message", async () => {
    let calls = 0;
    const { storage, engine, settled } = await start(backend, async () => {
      if (++calls === 1) throw new AppError("model_failed", "The model is away");
      return SUCCEEDED;
    });
    const { id: session_id } = await storage.createSession({});
    const failed = await submit(engine, session_id);
    const events = await eventsUntilDone(storage, session_id);
    expect(events.at(-3)).toMatchObject({ event: "error", data: { code: "model_failed", recoverable: true } });
    expect(await storage.getRun(failed.id)).toMatchObject({
      status: "failed",
      error: { message: "The model is away" },
    });
    expect(await storage.getSession(session_id)).toMatchObject({ status: "error" });
    const next = await submit(engine, session_id);
    await eventsUntilDone(storage, session_id, 2);
    expect(await storage.getRun(next.id)).toMatchObject({ status: "succeeded" });
    expect(settled).toHaveLength(1);
  });

  it("tells a failure once, also where the same keeps what it left from being settled; and any other", async () => {
    const { storage, drop } = await open[backend]();
    cleanups.push(async () => {
      await storage.close();
      await drop();
    });
    const noKey = () => Promise.reject(new AppError("model_failed", "There is no key"));
    const others = [noKey, () => Promise.reject(new Error("Another reason"))];
    const settle: Executor["settle"] = () => (others.shift() ?? noKey)();
    const { engine, errors } = await startEngine(storage, noKey, {}, settle);
    const { id } = await storage.createSession({});
    for (const n of [1, 2]) {
      await submit(engine, id);
      await eventsUntilDone(storage, id, n);
    }
    expect(errors.map((error) => (error as Error).message)).toEqual([
      "There is no key",
      "There is no key",
      "Another reason",
    ]);
  });

  it("takes over from a worker that is gone, and says from where what was said still counts", async () => {
    const { storage } = await start(backend, async () => SUCCEEDED, { max_runs: 0 });
    const { id: session_id } = await storage.createSession({});
    await storage.createRun({ session_id, events: [{ event: "status", data: { status: "queued" } }] });
    const dead = await storage.claimRun({ owner: "dead", lease_ms: 0 });
    if (!dead) throw new Error("nothing to claim");
    const said = [{ event: "token" as const, data: { content: "lost" }, ordinal: dead.next_ordinal }];
    await storage.appendEvents({ session_id, lease: dead, events: said });
    await startEngine(storage, async () => SUCCEEDED);
    const events = await eventsUntilDone(storage, session_id);
    expect(events[2]).toMatchObject({ event: "status", data: { status: "resuming", attempt: 2, discard_after: 1 } });
    await expect(storage.appendEvents({ session_id, lease: dead, events: said })).rejects.toMatchObject({
      code: "run_ended",
    });
  });

  it("gives up a run that was cut off three times without getting further", async () => {
    const { storage } = await start(backend, async () => SUCCEEDED, { max_runs: 0 });
    const { id: session_id } = await storage.createSession({});
    const { run } = await storage.createRun({ session_id });
    for (let n = 0; n < 3; n++) await storage.claimRun({ owner: "dies", lease_ms: 0 });
    let executed = false;
    await startEngine(storage, async () => {
      executed = true;
      return SUCCEEDED;
    });
    await eventsUntilDone(storage, session_id);
    expect(await storage.getRun(run.id)).toMatchObject({ status: "failed", error: { code: "too_many_attempts" } });
    expect(executed).toBe(false);
  });

  it("hands over at a step when it drains, at once for another node, and takes no more", async () => {
    const { storage, engine } = await start(backend, untilDrained);
    const { id: session_id } = await storage.createSession({});
    const run = await submit(engine, session_id);
    await expect.poll(() => engine.active).toEqual([run.id]);
    await engine.drain(50_000);
    expect(await storage.getRun(run.id)).toMatchObject({ status: "queued" });
    await expect(submit(engine, session_id)).rejects.toMatchObject({ code: "draining" });
    await startEngine(storage, async () => SUCCEEDED);
    await eventsUntilDone(storage, session_id);
    expect(await storage.getRun(run.id)).toMatchObject({ status: "succeeded" });
  });

  it("hands over at once, though a claim is on its way that takes its time, and then what that has brought", async () => {
    const { storage, drop } = await open[backend]();
    const [asked, answered] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
    cleanups.push(async () => {
      await storage.close();
      await drop();
    });
    let isSlow = false;
    const claimRun: Storage["claimRun"] = async (claim) => {
      if (isSlow) {
        asked.resolve();
        await answered.promise;
      }
      return storage.claimRun(claim);
    };
    const { engine } = await startEngine({ ...storage, claimRun }, untilDrained);
    cleanups.push(async () => answered.resolve());
    const { id: session_id } = await storage.createSession({});
    const run = await submit(engine, session_id);
    await expect.poll(() => engine.active).toEqual([run.id]);
    isSlow = true;
    await asked.promise;
    const drained = engine.drain(50_000);
    await expect.poll(() => storage.getRun(run.id)).toMatchObject({ status: "queued", attempt: 1 });
    const { id: other_id } = await storage.createSession({});
    const { run: brought } = await storage.createRun({ session_id: other_id });
    answered.resolve();
    await drained;
    expect(await storage.getRun(brought.id)).toMatchObject({ status: "queued", attempt: 1 });
    expect(await storage.getRun(run.id)).toMatchObject({ status: "queued", attempt: 1 });
  });

  it("leaves a run that would not stop to another node when the deadline is over", async () => {
    const { storage, engine } = await start(backend, untilAborted);
    const { id: session_id } = await storage.createSession({});
    const run = await submit(engine, session_id);
    await expect.poll(() => engine.active).toEqual([run.id]);
    await engine.drain(10);
    await expect.poll(() => storage.getRun(run.id)).toMatchObject({ status: "queued" });
  });

  it("does not wait for a storage that is away: its lease lets the run go", { tags: "long" }, async () => {
    const { storage, drop } = await open[backend]();
    cleanups.push(async () => {
      await storage.close();
      await drop();
    });
    let away = false;
    const finishRun: Storage["finishRun"] = async (...args) => {
      if (away) throw new AppError("storage_unavailable", "gone for a while");
      return storage.finishRun(...args);
    };
    const begun = Promise.withResolvers<void>();
    const ended = Promise.withResolvers<void>();
    const { engine } = await startEngine({ ...storage, finishRun }, async () => {
      begun.resolve();
      await ended.promise;
      return SUCCEEDED;
    });
    const { id: session_id } = await storage.createSession({});
    const run = await submit(engine, session_id);
    await begun.promise;
    away = true;
    ended.resolve();
    await engine.drain(10);
    expect(await storage.getRun(run.id)).toMatchObject({ status: "running" });
    away = false;
    await expect.poll(async () => (await storage.getRun(run.id)).status).toBe("succeeded");
  });

  it("stops a run that somebody aborted through another node", async () => {
    const begun = Promise.withResolvers<void>();
    let stopped: unknown;
    const { storage, engine, settled } = await start(
      backend,
      (work) => {
        begun.resolve();
        return untilAborted(work).catch((error) => {
          stopped = error;
          throw error;
        });
      },
      { lease_ms: 6_000 },
    );
    const { id: session_id } = await storage.createSession({});
    const run = await submit(engine, session_id);
    await begun.promise;
    await storage.requestAbort(session_id, run.id); // through the storage, as another node would
    await eventsUntilDone(storage, session_id);
    expect(stopped).toMatchObject({ code: "aborted" });
    expect(settled).toHaveLength(1);
  });

  it("stops working when its lease is lost, and writes nothing in the other's name", async () => {
    const { storage, drop } = await open[backend]();
    cleanups.push(async () => {
      await storage.close();
      await drop();
    });
    const back = Promise.withResolvers<void>(); // the storage can't be reached by the node's beats until then
    const unreachable: Storage = {
      ...storage,
      renewLease: (...args) => back.promise.then(() => storage.renewLease(...args)),
    };
    // Nor does it look for runs: a look that was under way when the lease ran out would find this one.
    const { engine, settled, errors } = await startEngine(unreachable, untilAborted, {
      lease_ms: 500,
      poll_ms: 60_000,
    });
    const { id: session_id } = await storage.createSession({});
    const run = await submit(engine, session_id);
    await expect.poll(() => engine.active).toEqual([run.id]);
    const another = { owner: "another", lease_ms: 60_000, session_id };
    await expect.poll(async () => (await storage.claimRun(another))?.run_id).toBe(run.id);
    back.resolve();
    await expect.poll(() => engine.active).toEqual([]);
    expect(errors).toMatchObject([{ code: "stale_epoch" }]);
    expect(settled).toEqual([]);
    expect(await storage.getRun(run.id)).toMatchObject({ status: "running", attempt: 2 });
    const { events } = await storage.readEvents({ session_id });
    expect(events.map(({ event, data }) => ("status" in data ? `${event}:${data.status}` : event))).toEqual([
      "status:queued",
    ]);
  });
});
