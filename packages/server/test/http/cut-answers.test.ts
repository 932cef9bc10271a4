import type { Message, Run } from "@cognition/contract";
import { expect, it, onTestFinished } from "vitest";
import { openai } from "../model/openai-server.ts";
import type { Answer, Piece } from "../model/scripted-server.ts";
import { says, scriptedProvider } from "../runtime/scripted-provider.ts";
import { readEvents, type SeenEvent } from "./read-events.ts";
import { startTestServer } from "./test-server.ts";

const begins = (...more: readonly Piece[]): Answer => openai.stream(openai.start, openai.text("Half an "), ...more);

async function startWith(...answers: readonly Answer[]) {
  const { server: model, options } = await scriptedProvider(...answers);
  onTestFinished(() => model[Symbol.asyncDispose]());
  const started = await startTestServer(options);
  const { id } = await started.createSession();
  const post = (path: string, init: object = {}) => started.ask(`/sessions/${id}${path}`, { method: "POST", ...init });
  return {
    ...{ ...started, model, id, post },
    send: async (enough?: (events: readonly SeenEvent[]) => boolean) =>
      readEvents(await post("/messages", { json: { content: "Go" } }), enough),
    resume: async () => readEvents(await post("/resume", { headers: { Accept: "text/event-stream" } })),
    said: async () => {
      const response = await started.ask(`/sessions/${id}/messages?order=asc`);
      const { messages } = (await response.json()) as { messages: Message[] };
      return messages.map(({ role, content }) => `${role}: ${content}`);
    },
  };
}

type Started = Awaited<ReturnType<typeof startWith>>;

async function expectAnsweredAnew(started: Started, first: string): Promise<void> {
  expect(await started.said()).toEqual(["user: Go", "assistant: Half an "]);
  const events = await started.resume();
  const moved = events.find(({ event }) => event === "head_moved");
  expect(moved?.data).toMatchObject({ head: expect.any(String), previous_head: expect.any(String) });
  expect(events.at(-1)).toMatchObject({ event: "done", data: { status: "succeeded" } });
  const run = (await (
    await started.ask(`/sessions/${started.id}/runs/${events.at(-1)?.data["run_id"]}`)
  ).json()) as Run;
  expect(run.resumes).toBe(first);
  expect(await started.said()).toEqual(["user: Go", "assistant: Whole"]);
  expect(await started.storage.rebuildMessages(started.id)).toMatchObject({ repaired: 0, added: 0, removed: 0 });
  // No provider was asked to go on from half of its own answer: some refuse it.
  const asked = started.model.requests.at(-1)?.body["messages"] as { role: string }[];
  expect(asked.at(-1)).toMatchObject({ role: "user", content: "Go" });
  const before = await started.ask(`/sessions/${started.id}/messages?checkpoint_id=${moved?.data["previous_head"]}`);
  expect(await before.json()).toMatchObject({ messages: [{ content: "Half an " }, { content: "Go" }] });
}

it("a run whose provider broke off in the middle of its answer is resumed: the answer is given anew", async () => {
  const started = await startWith(begins({ type: "reset" }), says("Whole"));
  const events = await started.send();
  expect(events.at(-1)).toMatchObject({ event: "done", data: { status: "failed" } });
  await expectAnsweredAnew(started, String(events.at(-1)?.data["run_id"]));
});

it("so is one that was aborted in the middle of its answer", async () => {
  const started = await startWith(begins({ type: "hang" }), says("Whole"));
  const [first] = await started.send((events) => events.at(-1)?.event === "token");
  await started.post("/abort");
  const run = async () => (await started.ask(`/sessions/${started.id}/runs/${first?.data["run_id"]}`)).json();
  await expect.poll(run).toMatchObject({ status: "aborted" });
  await expectAnsweredAnew(started, String(first?.data["run_id"]));
});

it("so is one that its limit on time stopped there, after the limit is raised", { tags: "long" }, async () => {
  const started = await startWith(begins({ type: "hang" }), says("Whole"));
  const limit = (max_seconds: number) =>
    started.ask("/budgets", { method: "PUT", json: { budgets: [{ period: "run", max_seconds }] } });
  await limit(3);
  const events = await started.send();
  expect(events.find(({ event }) => event === "error")?.data).toMatchObject({ code: "budget_exceeded" });
  await limit(3000);
  await expectAnsweredAnew(started, String(events.at(-1)?.data["run_id"]));
});

it("but where somebody has gone back to the half of it, the session stands at an end", async () => {
  const started = await startWith(begins({ type: "reset" }), says("Whole"));
  await started.send();
  const { checkpoints } = (await (await started.ask(`/sessions/${started.id}/checkpoints`)).json()) as {
    checkpoints: { id: string }[];
  };
  await started.resume();
  await started.post("/rewind", { json: { checkpoint_id: checkpoints[0]?.id } });
  const response = await started.post("/resume");
  expect(await response.json()).toMatchObject({ status: 409, code: "nothing_to_resume" });
  expect(await started.said()).toEqual(["user: Go", "assistant: Half an "]);
});
