import type { Run } from "@cognition/contract";
import { AIMessage } from "@langchain/core/messages";
import { Annotation, MessagesAnnotation, START, StateGraph } from "@langchain/langgraph";
import { expect, it, onTestFinished } from "vitest";
import { defaultConfig } from "../../src/config.ts";
import { openai } from "../model/openai-server.ts";
import { openScriptedServer } from "../model/scripted-server.ts";
import { readEvents } from "./read-events.ts";
import { startTestServer } from "./test-server.ts";

const FAILS = openai.fails(400, "not today", "invalid_request_error");

/** Two providers; the first is asked unless somebody names the other. */
async function startWithTwo() {
  const [first, second] = [await openScriptedServer(), await openScriptedServer()];
  onTestFinished(() => first[Symbol.asyncDispose]());
  onTestFinished(() => second[Symbol.asyncDispose]());
  first.script(openai.says("First"));
  second.script(openai.says("Second"));
  const config = defaultConfig();
  const entry = (id: string, base_url: string, priority: number) => ({
    ...{ id, base_url, priority, model: `${id}-model`, provider: "openai_compatible" as const },
    ...{ display_name: null, api_key_env: null, enabled: true, max_retries: 0, timeout_ms: 10_000 },
  });
  const providers = [entry("first", `${first.url}/v1`, 1), entry("second", `${second.url}/v1`, 2)];
  const started = await startTestServer({ config: { ...config, models: { ...config.models, providers } } });
  const on = (id: string) => {
    const post = (path: string, json?: object) =>
      started.ask(`/sessions/${id}${path}`, {
        method: "POST",
        headers: { Accept: "text/event-stream" },
        ...(json && { json }),
      });
    return {
      say: async (message: object) => (await readEvents(await post("/messages", message))).at(-1)?.data,
      resume: async () => (await readEvents(await post("/resume"))).at(-1)?.data,
    };
  };
  const modelOf = async (id: string) => {
    const { runs } = (await (await started.ask(`/sessions/${id}/runs`)).json()) as { runs: Run[] };
    return runs[0]?.model;
  };
  return { ...started, first, second, on, modelOf };
}

it("a session that is pinned to a provider resumes with that one: no other is sent the conversation", async () => {
  const { first, second, createSession, on, modelOf } = await startWithTwo();
  const { id } = await createSession({ config: { provider_id: "second" } });
  second.script(FAILS, openai.says("Second"));
  expect(await on(id).say({ content: "Go" })).toMatchObject({ status: "failed" });
  expect(await on(id).resume()).toMatchObject({ status: "succeeded", assistant_data: { content: "Second" } });
  expect(first.requests).toEqual([]);
  expect(await modelOf(id)).toBe("second-model");
});

it("one that was given another provider after a failure goes on with that", async () => {
  const { first, createSession, on, ask, modelOf } = await startWithTwo();
  const { id } = await createSession();
  first.script(FAILS);
  expect(await on(id).say({ content: "Go" })).toMatchObject({ status: "failed" });
  await ask(`/sessions/${id}`, { method: "PATCH", json: { config: { provider_id: "second" } } });
  expect(await on(id).resume()).toMatchObject({ status: "succeeded", assistant_data: { content: "Second" } });
  expect(await modelOf(id)).toBe("second-model");
});

it("the model that a message named stays, over two resumes", async () => {
  const { first, createSession, on, modelOf } = await startWithTwo();
  const { id } = await createSession({ config: { provider_id: "second" } });
  first.script(FAILS, FAILS, openai.says("First"));
  expect(await on(id).say({ content: "Go", model: "special" })).toMatchObject({ status: "failed" });
  expect(await on(id).resume()).toMatchObject({ status: "failed" });
  expect(await on(id).resume()).toMatchObject({ status: "succeeded", assistant_data: { content: "First" } });
  expect(first.requests.map(({ body }) => body["model"])).toEqual(["special", "special", "special"]);
  expect(await modelOf(id)).toBe("special");
});

it("a message that was aborted in the queue is resumed with its input and its context", async () => {
  const State = Annotation.Root({ ...MessagesAnnotation.spec, item: Annotation<string>() });
  const open = Promise.withResolvers<void>();
  const graph = new StateGraph(State)
    .addNode("order", async ({ item }, { context }) => {
      await open.promise;
      return { messages: [new AIMessage(`${item} in ${context?.["language"]}`)] };
    })
    .addEdge(START, "order")
    .compile();
  const { ask, createSession } = await startTestServer({ graphs: { orders: graph } });
  const { id } = await createSession({ agent_name: "orders" });
  const post = (path: string, json: object, headers: Record<string, string>) =>
    ask(`/sessions/${id}${path}`, { method: "POST", json, headers });
  const send = async (json: object) =>
    (await (await post("/messages", json, { Prefer: "respond-async" })).json()) as Run;
  await send({ content: "One", input: { item: "coffee" } });
  const second = await send({ content: "Two", input: { item: "tea" }, context: { language: "English" } });
  await post("/abort", { run_id: second.id }, {});
  open.resolve();
  await expect.poll(async () => (await post("/resume", {}, { Prefer: "respond-async" })).status).toBe(202);
  const log = await ask(`/sessions/${id}/events?after=0`, { headers: { Accept: "text/event-stream" } });
  const events = await readEvents(log, (seen) => seen.filter(({ event }) => event === "done").length === 3);
  expect(events.at(-1)?.data).toMatchObject({ assistant_data: { content: "tea in English" } });
});
