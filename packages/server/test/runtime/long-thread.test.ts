import { readdirSync, readFileSync, rmSync } from "node:fs";
import { join } from "node:path";
import type { Session } from "@cognition/contract";
import { describe, expect, it, onTestFinished } from "vitest";
import { compose } from "../../src/compose.ts";
import { openai } from "../model/openai-server.ts";
import { PROTOCOLS, type Protocol } from "../model/providers.ts";
import type { Answer, ScriptedServer } from "../model/scripted-server.ts";
import { says, scriptedOver } from "./scripted-provider.ts";
import { dataOf, eventsOf, type Started, say, send, startRuntime } from "./started-runtime.ts";

interface LongThread extends Started {
  server: ScriptedServer;
  options: Awaited<ReturnType<typeof scriptedOver>>["options"];
}

const [OPENAI, ANTHROPIC] = PROTOCOLS as readonly [Protocol, Protocol];
const SUMMARY = "They counted.";

async function start(protocol = OPENAI): Promise<LongThread> {
  const { server, options } = await scriptedOver(protocol, protocol.says("ok"));
  onTestFinished(() => server[Symbol.asyncDispose]());
  return { ...(await startRuntime(options)), server, options };
}

/** A thread of some length, then the answers to come. */
async function told(started: LongThread, ...answers: readonly Answer[]): Promise<void> {
  for (let n = 0; n < 4; n++) await say(started, `Number ${n}`);
  started.server.script(...answers);
}

const texts = ({ server }: LongThread, from = 0) =>
  server.requests
    .slice(from)
    .map(({ body }) => (body["messages"] as unknown[]).slice(-3).map((m) => JSON.stringify(m)));

async function said({ runtime, session }: LongThread): Promise<string[]> {
  const response = await runtime.http.app.request(`/sessions/${session.id}/messages?order=asc`);
  const { messages } = (await response.json()) as { messages: { content: string | { text: string }[] }[] };
  return messages.map(({ content }) =>
    typeof content === "string" ? content : content.map(({ text }) => text).join(""),
  );
}

const lastRequest = (started: LongThread) => JSON.stringify(started.server.requests.at(-1)?.body["messages"]);

describe.each([OPENAI, ANTHROPIC])("a conversation that $kind refuses as too long", (protocol) => {
  it("is summed up, and goes on with what was asked; the summary is nobody's answer", async () => {
    const started = await start(protocol);
    await told(started, protocol.overflow, protocol.says(SUMMARY), protocol.says("Four."));
    const events = await say(started, "How many?");
    expect(dataOf(events, "done")).toMatchObject([{ status: "succeeded" }]);
    expect(dataOf(events, "token").map(({ content }) => content)).toEqual(["Four."]);
    expect(lastRequest(started)).toContain(SUMMARY);
    expect(lastRequest(started)).toContain("How many?");
    expect(lastRequest(started)).not.toContain("Number 0");
    expect(await said(started)).toEqual([...[0, 1, 2, 3].flatMap((n) => [`Number ${n}`, "ok"]), "How many?", "Four."]);
    const used = dataOf(events, "usage").at(-1);
    expect(used).toMatchObject({ input_tokens: 20 });

    started.server.script(protocol.says("Sure."));
    expect(dataOf(await say(started, "Sure?"), "done")).toMatchObject([{ status: "succeeded" }]);
    for (const text of [SUMMARY, "How many?", "Four.", "Sure?"]) expect(lastRequest(started)).toContain(text);
    expect(lastRequest(started)).not.toContain("Number 0");
  });

  it("is summed up in part where it is too long to be summed up as well", async () => {
    const started = await start(protocol);
    const { overflow } = protocol;
    await told(started, overflow, overflow, overflow, protocol.says(SUMMARY), protocol.says("Four."));
    const before = started.server.requests.length;
    expect(dataOf(await say(started, "How many?"), "done")).toMatchObject([{ status: "succeeded" }]);
    const [, first, second, third] = texts(started, before).map((messages) => messages.join("").length);
    expect(second).toBeLessThan(first as number);
    expect(third).toBeLessThan(second as number);
  });

  it("fails as too long where nothing of it fits, and the thread goes on with a model that is larger", async () => {
    const started = await start(protocol);
    await told(started, protocol.overflow);
    const events = await say(started, "How many?");
    expect(dataOf(events, "error")).toMatchObject([{ code: "context_overflow" }]);
    started.server.script(protocol.says("Four."));
    expect(dataOf(await say(started, "And now?"), "done")).toMatchObject([{ status: "succeeded" }]);
  });
});

it("nothing is said while a conversation is summed up, and an abort then leaves no half a summary", async () => {
  const started = await start();
  await told(started, OPENAI.overflow, {
    type: "stream",
    pieces: [openai.start, openai.text(SUMMARY), { type: "hang" }],
  });
  const asked = started.server.requests.length + 2;
  const run_id = await send(started, "How many?");
  await expect.poll(() => started.server.requests.length, { timeout: 20_000 }).toBe(asked);
  await started.runtime.engine.abort(started.session.id);
  await started.server.requests.at(-1)?.left;
  const events = await eventsOf(started, run_id);
  expect(dataOf(events, "done")).toMatchObject([{ status: "aborted", assistant_data: null }]);
  expect(JSON.stringify(events)).not.toContain(SUMMARY);
  started.server.script(says("Four."));
  expect(dataOf(await say(started, "Again?"), "done")).toMatchObject([{ status: "succeeded" }]);
  expect(lastRequest(started)).toContain("Number 0");
});

describe("the file of what was summed up", () => {
  const history = ({ folder }: Started) => {
    const dir = join(folder, "conversation_history");
    return readdirSync(dir).map((name) => readFileSync(join(dir, name), "utf8"));
  };
  const sumUp = async (started: LongThread, question: string) => {
    started.server.script(OPENAI.overflow, says(SUMMARY), says("Yes."));
    expect(dataOf(await say(started, question), "done")).toMatchObject([{ status: "succeeded" }]);
    started.server.script(says("ok"));
  };

  it("has all of it, however often", async () => {
    const started = await start();
    await told(started, says("ok"));
    await sumUp(started, "First?");
    await say(started, "Number 5 ".repeat(100));
    await sumUp(started, "Second?");
    const [text = "", ...others] = history(started);
    expect(others).toEqual([]);
    for (const part of ["Number 0", "Number 3", "First?", "Number 5"]) expect(text).toContain(part);
    expect(text.split("Number 0")).toHaveLength(2);
  });

  it("is each thread's own, also in one folder", async () => {
    const started = await start();
    await told(started, says("ok"));
    await sumUp(started, "First?");
    const session: Session = await started.storage.createSession({ workspace_path: "work" });
    const other = { ...started, session };
    await say(other, "Another one");
    await sumUp(other, "First?");
    expect(history(started)).toHaveLength(2);
    expect(history(started).filter((text) => text.includes("Number 0"))).toHaveLength(1);
  });

  it("is no file that others have changed: the session can go back", async () => {
    const started = await start();
    await told(started, says("ok"));
    await sumUp(started, "First?");
    const path = `/sessions/${started.session.id}/rewind`;
    const response = await started.runtime.http.app.request(path, { method: "POST", body: '{"last":"turn"}' });
    expect(response.status, await response.clone().text()).toBe(200);
    await say(started, "Other?");
    expect(lastRequest(started)).toContain("Number 0");
    expect(lastRequest(started)).not.toContain(SUMMARY);
  });
});

it("on another machine the conversation goes on from its summary, with its file", async () => {
  const started = await start();
  await told(started, OPENAI.overflow, says(SUMMARY), says("Four."));
  await say(started, "How many?");
  await started.runtime.close(0);
  const file = join(started.folder, `conversation_history/${started.session.id}.md`);
  const text = readFileSync(file, "utf8");
  rmSync(started.folder, { recursive: true });
  const { storage, root: workspace_root, options } = started;
  const runtime = await compose({ ...options, storage, workspace_root, engine: { poll_ms: 20 }, onError: () => {} });
  onTestFinished(() => runtime.close(0));
  runtime.engine.start();
  started.server.script(says("Sure."));
  expect(dataOf(await say({ ...started, runtime }, "Sure?"), "done")).toMatchObject([{ status: "succeeded" }]);
  expect(lastRequest(started)).toContain(SUMMARY);
  expect(lastRequest(started)).not.toContain("Number 0");
  expect(readFileSync(file, "utf8")).toBe(text);
});
