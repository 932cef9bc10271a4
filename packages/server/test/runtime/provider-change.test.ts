import { CreateProvider } from "@cognition/contract";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { PROTOCOLS, type Protocol } from "../model/providers.ts";
import { openScriptedServer, type ScriptedServer } from "../model/scripted-server.ts";
import { dataOf, say, startRuntime } from "./started-runtime.ts";

const [OPENAI] = PROTOCOLS as readonly [Protocol];
let one: ScriptedServer;
let two: ScriptedServer;
beforeEach(async () => {
  one = await openScriptedServer();
  two = await openScriptedServer();
  one.script(OPENAI.says("one"));
  two.script(OPENAI.says("two"));
});
afterEach(async () => {
  await one[Symbol.asyncDispose]();
  await two[Symbol.asyncDispose]();
});

const house = (server: ScriptedServer, more = {}) =>
  CreateProvider.parse({
    id: "house",
    provider: "openai_compatible",
    base_url: `${server.url}/v1`,
    model: "m",
    max_retries: 0,
    ...more,
  });

describe("what is changed of a provider through the API counts from the next message on", () => {
  const told = (events: Awaited<ReturnType<typeof say>>) =>
    dataOf(events, "token")
      .map(({ content }) => content)
      .join("");

  it("made, changed, switched off, removed", async () => {
    const started = await startRuntime();
    const { models } = started.runtime;
    await say(started, "Hello"); // by the offline model
    await models.create(house(one));
    expect(told(await say(started, "Hello"))).toBe("one");
    await models.update("house", { base_url: `${two.url}/v1` });
    expect(told(await say(started, "Hello"))).toBe("two");
    await models.update("house", { model: "another" });
    await say(started, "Hello");
    expect(two.requests.at(-1)?.body["model"]).toBe("another");
    await models.create(house(one, { id: "first", priority: 1 }));
    expect(told(await say(started, "Hello"))).toBe("one");
    await models.update("first", { enabled: false });
    expect(told(await say(started, "Hello"))).toBe("two");
    await models.remove("house");
    const [sent, asked] = [one.requests.length, two.requests.length];
    await say(started, "Hello"); // by the offline model again
    expect([one.requests.length, two.requests.length]).toEqual([sent, asked]);
  });

  it("one that was left alone is called again as soon as it was set right, with the same settings as before too", async () => {
    const started = await startRuntime();
    const { models } = started.runtime;
    await models.create(house(one));
    one.script(OPENAI.fails(503, "overloaded"));
    for (let n = 0; n < 5; n++) await say(started, "Hello");
    expect(dataOf(await say(started, "Hello"), "error")).toMatchObject([{ code: "circuit_open" }]);
    one.script(OPENAI.says("back"));
    await models.remove("house");
    await models.create(house(one));
    expect(told(await say(started, "Hello"))).toBe("back");
    expect(await models.circuitBreakers()).toMatchObject({ house: { state: "closed", total_calls: 1 } });
  });
});
