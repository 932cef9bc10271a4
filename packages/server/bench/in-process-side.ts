import { BaseCallbackHandler } from "@langchain/core/callbacks/base";
import { HumanMessage } from "@langchain/core/messages";
import { DynamicStructuredTool } from "@langchain/core/tools";
import { createDeepAgent } from "deepagents";
import { type AgentMiddleware, todoListMiddleware } from "langchain";
import { z } from "zod";
import { builtinAgents } from "../src/agent/builtin-agents.ts";
import { OfflineModel } from "../src/model/offline/offline-model.ts";
import { createGuardedFetch } from "../src/outgoing/guarded-fetch.ts";
import { describeCommands } from "../src/runtime/command-description.ts";
import { createFilesMiddleware } from "../src/runtime/files-middleware.ts";
import { inOneCall } from "../src/runtime/one-call.ts";
import { createPairedCalls } from "../src/runtime/paired-calls.ts";
import { createPlanTool } from "../src/runtime/plan-mode.ts";
import { createTaskNotes } from "../src/runtime/task-notes.ts";
import { createTodos } from "../src/runtime/todos.ts";
import { createWorkspaceBackend } from "../src/runtime/workspace-backend.ts";
import { createBuiltinTools } from "../src/tool/builtin-tools.ts";
import { LOOK_UP, type Side, WORKLOADS } from "./workload.ts";

const RECURSION_LIMIT = 1_000;

/** deepagents as it comes, or with the steps of its graph that ours has. */
export type Steps = "all" | "ours";

/**
 * The same agent with none of us around it: the same prompt, model and tools, no checkpointer, called where it is and its
 * tokens read as they come.
 */
export function openInProcessSide(steps: Steps): Side {
  const agent = builtinAgents([]).find(({ name }) => name === "default");
  const own = [createPlanTool(async () => undefined), ...createTaskNotes({ changeTask: refuse })];
  const builtins = [...createBuiltinTools({ fetch: createGuardedFetch() }), ...own].map(
    ({ name, description, schema }) =>
      new DynamicStructuredTool({ name, description, schema: schema as z.ZodObject, func: async () => "" }),
  );
  const lookUp = new DynamicStructuredTool({
    name: LOOK_UP.name,
    description: LOOK_UP.description,
    schema: z.object({ topic: z.string() }),
    func: async () => LOOK_UP.found,
  });
  const graph = createDeepAgent({
    name: "default",
    model: new OfflineModel(),
    systemPrompt: agent?.system_prompt ?? "",
    tools: [...builtins, lookUp],
    middleware: middlewareFor(steps) as unknown as AgentMiddleware[],
  });
  return {
    commits: () => 0,
    prepare: async () => undefined,
    run: async (workload) => {
      const start = performance.now();
      let first_token_ms = 0;
      const messages = [new HumanMessage(WORKLOADS[workload])];
      const handler = tokenHandler((token) => {
        if (token !== "") first_token_ms ||= performance.now() - start;
      });
      await graph.invoke({ messages }, { callbacks: [handler], recursionLimit: RECURSION_LIMIT });
      if (first_token_ms === 0) throw new Error("the agent said nothing");
      return first_token_ms;
    },
    close: async () => undefined,
  };
}

const COMMANDS = describeCommands({ backend: "local", shell: false, network: "host", isolation: "none" });

/** The default agent plans, with us or without. */
function middlewareFor(steps: Steps): object[] {
  if (steps === "all") return [todoListMiddleware()];
  const ours = [createFilesMiddleware(createWorkspaceBackend(), COMMANDS), createPairedCalls(), createTodos()];
  return inOneCall("model-call", ours as unknown as AgentMiddleware[]);
}

function refuse(): never {
  throw new Error("no run of the benchmark takes notes");
}

/** The graph's own stream of messages loses tokens when several run at once (they wait in a queue, and the stream ends first). */
function tokenHandler(onToken: (token: string) => void): BaseCallbackHandler {
  const handler = BaseCallbackHandler.fromMethods({ handleLLMNewToken: (token) => onToken(token) });
  handler.awaitHandlers = true;
  return Object.assign(handler, { lc_prefer_streaming: true });
}
