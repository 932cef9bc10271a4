import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { setTimeout as delay } from "node:timers/promises";
import type { CallbackManager } from "@langchain/core/callbacks/manager";
import { RunnableLambda } from "@langchain/core/runnables";
import { getConfig } from "@langchain/langgraph";
import { RunTree } from "langsmith";
import { getCurrentRunTree, traceable } from "langsmith/traceable";
import { afterAll, afterEach, beforeAll, beforeEach, expect, it, vi } from "vitest";
import { z } from "zod";
import { defineTool } from "../../src/tool/define-tool.ts";
import type { ToolDefinition } from "../../src/tool/tool.ts";
import { dataOf, say, startRuntime } from "./started-runtime.ts";

/** In LangSmith's place: keeps what is sent to it. */
const sent: string[] = [];
const langSmith = createServer((request, response) => {
  const parts: Buffer[] = [];
  request.on("data", (part: Buffer) => parts.push(part));
  request.on("end", () => {
    if (request.method !== "GET") sent.push(Buffer.concat(parts).toString("latin1"));
    response.setHeader("content-type", "application/json").end("{}");
  });
});

beforeAll(() => new Promise<void>((resolve) => langSmith.listen(0, "127.0.0.1", resolve)));
afterAll(() => {
  langSmith.closeAllConnections();
  langSmith.close();
});

beforeEach(() => {
  sent.length = 0;
  vi.stubEnv("LANGSMITH_ENDPOINT", `http://127.0.0.1:${(langSmith.address() as AddressInfo).port}`);
  vi.stubEnv("LANGSMITH_API_KEY", "a-key");
  // Made with these, and not by whoever came first in this process.
  Reflect.set(RunTree, "sharedClient", null);
});

afterEach(() => {
  vi.unstubAllEnvs();
  vi.restoreAllMocks();
});

/** What a tool that was written for LangSmith does. */
function tracedTool(): ToolDefinition {
  const shout = traceable((text: string) => text.toUpperCase(), { name: "shouting" });
  const late = traceable(() => "late", { name: "shouting late" });
  const echo = RunnableLambda.from((text: string) => text);
  const run = async () => {
    const mine = getCurrentRunTree();
    mine.metadata["who"] = "me";
    const child = mine.createChild({ name: "by hand" });
    const thread_id = getConfig().configurable?.["thread_id"];
    const config = getConfig() as never;
    const { handlers } = getConfig().callbacks as CallbackManager;
    /** Ends before what it began, and calls something with the run's callbacks. */
    const outlived = traceable(async () => {
      void delay(100).then(() => late());
      return echo.invoke("c", { callbacks: handlers });
    });
    const said = [await shout("a"), await shout(config, "b" as never), await outlived(config)];
    return JSON.stringify({ said, thread_id, who: mine.metadata["who"], trace: child.trace_id === mine.id });
  };
  return defineTool({
    name: "shout",
    description: "Shouts",
    schema: z.object({}),
    on_crash: "never",
    effect: "read",
    run,
  });
}

it("a run that nobody traces makes no runs of LangSmith", async () => {
  const making = vi.spyOn(RunTree, "getDefaultConfig");
  const started = await startRuntime({});
  expect(dataOf(await say(started, "Make a todo list with three steps and work it off"), "done")).toMatchObject([
    { status: "succeeded" },
  ]);
  expect(making).not.toHaveBeenCalled();
  expect(new RunTree({ name: "seen" }).id && making).toHaveBeenCalledOnce();
});

it("a tool finds one all the same, with its config, and nothing is sent", async () => {
  const started = await startRuntime({ tools: [tracedTool()] });
  const events = await say(started, "Use the shout tool");
  const [{ output } = {}] = dataOf(events, "tool_result");
  expect(JSON.parse(output as string)).toEqual({
    said: ["A", "B", "c"],
    thread_id: started.session.thread_id,
    who: "me",
    trace: true,
  });
  await delay(800); // longer than a client gathers
  await RunTree.getSharedClient().flush();
  expect(sent).toEqual([]);
});

it("LANGSMITH_TRACING sends runs and what their tools do, as ever", async () => {
  vi.stubEnv("LANGSMITH_TRACING", "true");
  const started = await startRuntime({ tools: [tracedTool()] });
  expect(dataOf(await say(started, "Use the shout tool"), "done")).toMatchObject([{ status: "succeeded" }]);
  for (const name of ["model_request", "shouting"])
    await expect.poll(() => sent.join("\n"), { timeout: 20_000 }).toContain(`"name":"${name}"`);
});
