import { openStorage, type Storage } from "@cognition/thread";
import { afterEach, beforeEach, describe, expect, onTestFinished, test } from "vitest";
import { createMigratedDatabase } from "../../../thread/test/migrated-database.ts";
import { until } from "../http/until.ts";
import { modelOf, PROTOCOLS, type Protocol, provider, registry } from "./providers.ts";
import { openScriptedServer, type ScriptedServer } from "./scripted-server.ts";

const [openai] = PROTOCOLS as readonly [Protocol];
const HOUR_MS = 3_600_000;
const WITHIN_MS = 30_000;
let server: ScriptedServer;

beforeEach(async () => {
  server = await openScriptedServer();
});
afterEach(async () => {
  await server[Symbol.asyncDispose]();
});

/** Each with connections of its own to one database, as two nodes have them. */
async function twoStorages(): Promise<[Storage, Storage]> {
  const { url, drop } = await createMigratedDatabase();
  onTestFinished(drop);
  const open = async () => {
    const storage = await openStorage({ uri: url, pool: { min: 0, max: 2 } });
    onTestFinished(() => storage.close());
    return storage;
  };
  return [await open(), await open()];
}

interface NodeOptions {
  openMs?: number;
  errors?: unknown[];
}

function startNode(storage: Storage, { openMs = HOUR_MS, errors = [] }: NodeOptions = {}) {
  const made = registry([provider(openai, server.url, { max_retries: 0 })], {
    breaker: { failureThreshold: 2, openMs, successThreshold: 1 },
    sharedBreakers: { store: storage.breakers, onError: (error) => errors.push(error) },
  });
  const call = async () => {
    const model = await modelOf(made);
    return model.invoke("hi").then(
      () => "ok",
      (error) => error.code as string,
    );
  };
  const state = async () => (await made.circuitBreakers())["openai"]?.state;
  return { ...made, call, state };
}

const listed = (storage: Storage, count: number) => async () => {
  const open = await storage.breakers.listOpenBreakers();
  return open.length === count ? open : undefined;
};

describe("a provider that fails on one node", () => {
  test("is left alone by the others without a call of their own, and shown as open", async () => {
    const [a, b] = await twoStorages();
    const [one, two] = [startNode(a), startNode(b)];
    server.script(openai.fails(500, "boom"));
    expect(await two.circuitBreakers()).toEqual({});
    expect([await one.call(), await one.call()]).toEqual(["model_failed", "model_failed"]);
    const [row] = await until("it to be told", listed(b, 1), WITHIN_MS);
    expect(row).toMatchObject({ name: "openai", scope: {}, failures: 2 });
    await until("the other to know", async () => ((await two.state()) === "open" ? true : undefined), WITHIN_MS);
    expect(await two.circuitBreakers()).toEqual({
      openai: { state: "open", total_calls: 0, failed_calls: 0, consecutive_failures: 2 },
    });
    expect(await two.call()).toBe("circuit_open");
    expect(server.requests).toHaveLength(2);
  });

  test("and is let go before its time is tried again by all", async () => {
    const [a, b] = await twoStorages();
    const [one, two] = [startNode(a), startNode(b)];
    server.script(openai.fails(500, "boom"));
    await one.call();
    await one.call();
    const is = (node: typeof two, wanted: string) => async () => (await node.state()) === wanted || undefined;
    await until("the other to know", is(two, "open"), WITHIN_MS);
    await until("it to know that the others do", listed(a, 1), WITHIN_MS);
    await a.breakers.closeBreaker({ name: "openai", scope: {} });
    server.script(openai.says("ok"));
    await until("the other to try", is(two, "half_open"), WITHIN_MS);
    expect(await two.call()).toBe("ok");
    expect(await two.state()).toBe("closed");
  });

  test("is not remembered past its time, not even by a node that starts then", async () => {
    const [a, b] = await twoStorages();
    const told = Promise.withResolvers<void>();
    const openBreaker: typeof a.breakers.openBreaker = (breaker) => a.breakers.openBreaker(breaker).then(told.resolve);
    const one = startNode({ ...a, breakers: { ...a.breakers, openBreaker } }, { openMs: 50 });
    server.script(openai.fails(500, "boom"));
    await one.call();
    await one.call();
    await told.promise;
    await until("it to be over", async () => ((await one.state()) === "half_open" ? true : undefined), WITHIN_MS);
    await until("it to be forgotten", listed(b, 0), WITHIN_MS);
    server.script(openai.says("ok"));
    expect(await startNode(b).call()).toBe("ok");
  });

  test("is called again everywhere once its definition was changed", async () => {
    const [a, b] = await twoStorages();
    const one = startNode(a);
    server.script(openai.fails(500, "boom"));
    await one.call();
    await one.call();
    await until("it to be told", listed(b, 1), WITHIN_MS);
    const fields = { id: "mine", provider: "openai" as const, model: "gpt-5.4" };
    await a.breakers.openBreaker({ name: "mine", scope: {}, failures: 2, open_ms: HOUR_MS });
    const { source: _, scope: __, ...rest } = provider(openai, server.url, fields);
    await one.create(rest);
    expect((await until("the new one to be forgotten", listed(b, 1), WITHIN_MS)).map(({ name }) => name)).toEqual([
      "openai",
    ]);
  });
});

test("a storage that can't be asked stops no call, and is told", async () => {
  const storage = await openStorage("memory");
  const errors: unknown[] = [];
  const broken = {
    ...storage,
    breakers: { ...storage.breakers, listOpenBreakers: async () => Promise.reject(new Error("away")) },
  };
  const node = startNode(broken, { errors });
  server.script(openai.says("ok"));
  expect(await node.call()).toBe("ok");
  expect(errors).toEqual([new Error("away")]);
  await storage.close();
});
