import { setTimeout as delay } from "node:timers/promises";
import { afterAll, beforeAll, describe, expect, inject, it } from "vitest";
import { createTempDir } from "../../../../testing/temp-dir.ts";
import { shuffle } from "../../../thread/test/crash/random.ts";
import { engines, removeCache } from "../../../thread/test/crash/scene.ts";
import { killOneByOne, onePerPoint, ROUNDS } from "./rounds.ts";
import { type Scene, setScene } from "./scene.ts";

const short = inject("short");
const ROUNDS_IN_ALL = 100;
const RANDOM_KILLS = short ? 3 : ROUNDS_IN_ALL - ROUNDS.length;
const SESSIONS = 4;
const TIMEOUT = 1_800_000;
/** Nobody waits for it: what goes on at once was handed over. */
const LONG_LEASE_MS = 600_000;
const DEADLINE_MS = 120_000;
const seed = Date.now() % 1_000_000;
const cache = createTempDir("cognition-crash-");

/** A node that is killed leaves no compiled code behind for the next one; this one is not. */
beforeAll(async () => {
  const [sqlite] = engines;
  if (!sqlite) throw new Error("there is no engine");
  const scene = await setScene(sqlite, { seed, sessions: 0, cache: cache.path });
  const node = scene.hire();
  await node.heard("ready");
  node.begin({ messages: [], sessions: [] });
  await node.heard("idle");
  node.signal("SIGTERM");
  await node.ended;
  await scene.dispose();
});

afterAll(() => {
  cache.remove();
  removeCache();
});

describe.each(engines)("a node on $name that is killed", { timeout: TIMEOUT }, (engine) => {
  it("leaves runs that end once, tools that ran once, and threads that go on", async () => {
    const scene = await setScene(engine, { seed, sessions: SESSIONS, cache: cache.path });
    try {
      const chosen = short ? onePerPoint(scene.random) : ROUNDS;
      const anywhere = Array.from({ length: RANDOM_KILLS }, () => undefined);
      const hits = await killOneByOne(scene, shuffle([...chosen, ...anywhere], scene.random));
      const table = [...hits].map(([point, count]) => `${String(count).padStart(4)}  ${point}`).join("\n");
      console.log(`${engine.name}: kills by point\n${table}\n${String(RANDOM_KILLS).padStart(4)}  anywhere`);
      const missed = [...hits].filter(([, count]) => count === 0).map(([point]) => point);
      expect(missed, "points at which no node died").toEqual([]);
    } catch (error) {
      throw new Error(`with seed ${seed}: ${(error as Error).message}`, { cause: error });
    } finally {
      await scene.dispose();
    }
  });
});

describe.each(engines)("a node on $name that is told to stop", { timeout: TIMEOUT }, (engine) => {
  /** One node gets SIGTERM in the middle of a tool call; the next one brings the run to its end. */
  async function handOver(asks: "held_steps" | "ponder", drain_ms: number) {
    const scene = await setScene(engine, { seed, sessions: 1, cache: cache.path, lease_ms: LONG_LEASE_MS, drain_ms });
    try {
      const [first, second] = [scene.hire(), scene.hire()];
      const sessions = [...scene.sessions];
      await Promise.all([first.heard("ready"), second.heard("ready")]);
      first.begin({ messages: [scene.ask(asks, sessions[0] ?? "")], sessions });
      await untilEffect(scene);
      first.signal("SIGTERM");
      await first.heard("leaving");
      scene.release();
      expect(await first.ended).toEqual({ signal: null, code: 0, stderr: "" });
      expect(first.errors).toEqual([]);
      second.begin({ messages: [], sessions });
      await Promise.race([second.heard("idle"), late("the second node to be idle")]);
      second.signal("SIGTERM");
      expect(await second.ended).toEqual({ signal: null, code: 0, stderr: "" });
      const facts = [...(await scene.check()).values()][0];
      expect(facts?.runs).toMatchObject([{ status: "succeeded", attempt: 2 }]);
      const results = facts?.events.filter(({ event }) => event === "tool_result");
      return results?.map(({ data }) => (data as { outcome: string }).outcome);
    } finally {
      await scene.dispose();
    }
  }

  it("lets the step end and hands the run over, with no lease to wait for and nothing done again", async () => {
    expect(await handOver("held_steps", DEADLINE_MS)).toEqual(["ok", "ok", "ok"]);
  });

  it("stops a tool that takes too long, and the next node says that nobody knows what it did", async () => {
    expect(await handOver("ponder", 200)).toEqual(["unknown"]);
  });
});

async function untilEffect(scene: Scene): Promise<void> {
  const deadline = performance.now() + DEADLINE_MS;
  while (scene.effects().length === 0) {
    if (performance.now() > deadline) throw new Error(`no tool was called in ${DEADLINE_MS} ms`);
    await delay(5);
  }
}

async function late(fact: string): Promise<never> {
  await delay(DEADLINE_MS, undefined, { ref: false });
  throw new Error(`waited ${DEADLINE_MS} ms in vain for ${fact}`);
}
