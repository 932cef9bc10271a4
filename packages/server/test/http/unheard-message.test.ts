import type { CheckpointPage, Run } from "@cognition/contract";
import { Annotation, START, StateGraph } from "@langchain/langgraph";
import { expect, it, onTestFinished } from "vitest";
import { defaultConfig } from "../../src/config.ts";
import { openai } from "../model/openai-server.ts";
import { openScriptedServer } from "../model/scripted-server.ts";
import { readEvents } from "./read-events.ts";
import { startTestServer } from "./test-server.ts";

async function start() {
  const model = await openScriptedServer();
  onTestFinished(() => model[Symbol.asyncDispose]());
  const { models, ...config } = defaultConfig();
  const started = await startTestServer({ config: { ...config, models: { ...models, offline: "off" } } });
  const change = (method: string, path: string, json: object) => started.ask(path, { method, json });
  const provider = { id: "house", provider: "openai_compatible", base_url: `${model.url}/v1`, model: "m1" };
  expect((await change("POST", "/models/providers", provider)).status).toBe(201);
  const { id } = await started.createSession();
  const post = (path: string, json: object = {}) =>
    started.ask(`/sessions/${id}${path}`, { method: "POST", json, headers: { Prefer: "respond-async" } });
  const ended = async (run_id: string) => {
    await expect.poll(async () => (await run(run_id)).finished_at).not.toBeNull();
    return run(run_id);
  };
  const run = async (run_id: string) => (await (await started.ask(`/sessions/${id}/runs/${run_id}`)).json()) as Run;
  return {
    ...{ ...started, id, model, ended },
    enable: (enabled: boolean) => change("PATCH", "/models/providers/house", { enabled }),
    send: async (content: string) => (await (await post("/messages", { content })).json()) as Run,
    abort: (run_id: string) => post("/abort", { run_id }),
    resume: () => post("/resume"),
  };
}

/** Its message waits in the queue while the only provider goes. */
async function failAtOpening({ model, send, enable, abort, ended }: Awaited<ReturnType<typeof start>>) {
  model.script(openai.stream(openai.start, { type: "hang" }));
  const busy = await send("Wait");
  const failing = await send("Two and two?");
  await enable(false);
  await abort(busy.id);
  expect(await ended(failing.id)).toMatchObject({ status: "failed", error: { code: "no_provider_enabled" } });
  await enable(true);
  model.script(openai.says("Four"));
  return failing;
}

it("a message whose run failed before its first step is heard when that is resumed", async () => {
  const started = await start();
  const failed = await failAtOpening(started);
  const response = await started.resume();
  expect(response.status).toBe(202);
  const resumed = (await response.json()) as Run;
  expect(resumed.resumes).toBe(failed.id);
  expect(await started.ended(resumed.id)).toMatchObject({ status: "succeeded" });
  const asked = started.model.requests.at(-1)?.body["messages"] as object[];
  expect(asked.at(-1)).toMatchObject({ role: "user", content: "Two and two?" });
  const log = await started.ask(`/sessions/${started.id}/runs/${resumed.id}/events?after=0`, {
    headers: { Accept: "text/event-stream" },
  });
  expect((await readEvents(log)).at(-1)?.data).toMatchObject({ assistant_data: { content: "Four" } });
  expect(await started.storage.rebuildMessages(started.id)).toMatchObject({ repaired: 0, added: 0, removed: 0 });
});

/** A graph of two nodes and no messages; `fails` says at which call. */
async function startWithoutMessages(fails?: number) {
  const ran: string[] = [];
  const node = (name: string) => () => {
    if (ran.push(name) === fails) throw new Error("not today");
    return {};
  };
  const graph = new StateGraph(Annotation.Root({ item: Annotation<string>() }))
    .addNode("one", node("one"))
    .addNode("two", node("two"))
    .addEdge(START, "one")
    .addEdge("one", "two")
    .compile();
  const { ask, createSession } = await startTestServer({ graphs: { own: graph } });
  const { id } = await createSession({ agent_name: "own" });
  const post = async (path: string, json: object) => {
    const headers = { Accept: "application/json" };
    return (await ask(`/sessions/${id}${path}`, { method: "POST", json, headers })).json();
  };
  return {
    ran,
    send: () => post("/messages", { content: "Go", input: { item: "tea" } }),
    resume: () => post("/resume", {}),
    rewindToTwo: async () => {
      const page = (await (await ask(`/sessions/${id}/checkpoints`)).json()) as CheckpointPage;
      return post("/rewind", { checkpoint_id: page.checkpoints.find(({ next }) => next.includes("two"))?.id });
    },
  };
}

it("a run of a graph without messages goes on where it failed, though no checkpoint has its message", async () => {
  const { ran, send, resume } = await startWithoutMessages(2);
  expect(await send()).toMatchObject({ status: "failed" });
  expect(await resume()).toMatchObject({ status: "succeeded" });
  expect(ran).toEqual(["one", "two", "two"]);
});

it("and where it was rewound to", async () => {
  const { ran, send, resume, rewindToTwo } = await startWithoutMessages();
  expect(await send()).toMatchObject({ status: "succeeded" });
  expect(await rewindToTwo()).toMatchObject({ head: expect.any(String) });
  expect(await resume()).toMatchObject({ status: "succeeded" });
  expect(ran).toEqual(["one", "two", "two"]);
});
