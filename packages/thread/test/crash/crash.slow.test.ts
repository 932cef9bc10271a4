import { setTimeout as delay } from "node:timers/promises";
import { afterAll, beforeAll, describe, expect, inject, it } from "vitest";
import { startPostgres } from "../../../../testing/postgres.ts";
import { choosePlans, neverHit, tableOf } from "./plans.ts";
import { shuffle } from "./random.ts";
import { finish, killOneByOne, orderOf, record, untilSteps } from "./rounds.ts";
import { engines, removeCache, type Scene, setScene, warmCache } from "./scene.ts";
import { neverCalled } from "./written-methods.ts";

const short = inject("short");
const RANDOM_KILLS = short ? 3 : 50;
/** A short run takes a few of them, other ones each time. */
const POINTS = short ? 3 : Number.POSITIVE_INFINITY;
const SERVER_KILLS = short ? 1 : 6;
const KILLS_AMONG_FOUR = short ? 3 : 12;
/** Of a machine that has much else to do: each kill has a deadline of its own. */
const TIMEOUT = 3_600_000;
const seed = Date.now() % 1_000_000;

beforeAll(warmCache);
afterAll(removeCache);

async function withScene(engine: (typeof engines)[number], use: (scene: Scene) => Promise<void>, serverUrl?: string) {
  const scene = await setScene(engine, seed, serverUrl);
  try {
    await use(scene);
  } catch (error) {
    throw new Error(`with seed ${seed}: ${(error as Error).message}`, { cause: error });
  } finally {
    await scene.dispose();
  }
}

describe.concurrent.each(engines)("a writer on $name that is killed", { timeout: TIMEOUT }, (engine) => {
  it("inside every transaction and at any moment, over and over, loses nothing and leaves no half", () =>
    withScene(engine, async (scene) => {
      const { passed, methods } = await record(scene);
      const called = passed.map(({ method }) => method);
      expect(neverCalled(methods, called), "methods that may write, and that no writer calls").toEqual([]);
      const points = choosePlans(passed, scene.random).slice(0, POINTS);
      const random = Array.from({ length: RANDOM_KILLS }, () => undefined);
      const hits = await killOneByOne(scene, shuffle([...points, ...random], scene.random));
      console.log(
        `${engine.name}: ${hits.length} kills at points, ${random.length} at random\n${tableOf(passed, hits)}`,
      );
      if (!short) expect(neverHit(passed, hits), "points at which no writer died").toEqual([]);
    }));

  it("while it makes the schema leaves none, and the next one makes it", () =>
    withScene(engine, async (scene) => {
      const where = [
        ["create schema", 0],
        ["create schema", 12],
        ["insert schema_migrations", 0],
        ["commit", 0],
      ] as const;
      for (const [point, skip] of short ? where.slice(1, 3) : where) {
        const writer = scene.hire();
        await writer.ready;
        writer.begin({ ...orderOf(0, { open: [] }), plan: { step: "notes", method: "initialize", point, skip } });
        expect(await writer.ended, `at ${point}`).toEqual({ killed: true, errors: "" });
      }
      await finish(scene);
    }));
});

describe("several writers", { timeout: TIMEOUT }, () => {
  it("four processes on one SQLite file go on while others of them are killed", async () => {
    const [sqlite] = engines;
    if (!sqlite) throw new Error("SQLite is the first engine");
    await withScene(sqlite, async (scene) => {
      const writers = Array.from({ length: 4 }, () => scene.hire());
      const begin = async (index: number) => {
        await writers[index]?.ready;
        writers[index]?.begin({ lanes: 2, lease_ms: 0, seed: index, open: [] });
      };
      await Promise.all(writers.map((_, index) => begin(index)));
      for (let kill = 0; kill < KILLS_AMONG_FOUR; kill++) {
        await untilSteps(scene, 1, writers);
        await delay(scene.random() * 100);
        const index = Math.floor(scene.random() * writers.length);
        const victim = writers[index];
        await victim?.kill();
        expect(await victim?.ended).toEqual({ killed: true, errors: "" });
        writers[index] = scene.hire();
        await begin(index);
      }
      await Promise.all(writers.map((writer) => writer.kill()));
      for (const writer of writers) expect(await writer.ended).toEqual({ killed: true, errors: "" });
      await finish(scene);
    });
  });

  it("survive the death of their PostgreSQL server, and find all that it had acknowledged", async () => {
    const [, postgres] = engines;
    if (!postgres) throw new Error("PostgreSQL is the second engine");
    const server = await startPostgres({ durable: true });
    try {
      await withScene(
        postgres,
        async (scene) => {
          const writers = [scene.hire(), scene.hire()];
          for (const [index, writer] of writers.entries()) {
            await writer.ready;
            writer.begin({ lanes: 3, lease_ms: 0, seed: index, open: [], tolerate: ["storage_unavailable"] });
          }
          for (let kill = 0; kill < SERVER_KILLS; kill++) {
            await untilSteps(scene, 4, writers);
            await delay(scene.random() * 100);
            await server.kill();
            await server.restart();
            await untilSteps(scene, 4, writers);
          }
          await Promise.all(writers.map((writer) => writer.kill()));
          for (const writer of writers) expect(await writer.ended).toEqual({ killed: true, errors: "" });
          await finish(scene);
        },
        server.url,
      );
    } finally {
      await server.stop();
    }
  });
});
