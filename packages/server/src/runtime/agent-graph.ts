import type { BaseChatModel } from "@langchain/core/language_models/chat_models";
import type { BaseCheckpointSaver, BaseStore } from "@langchain/langgraph-checkpoint";
import { createDeepAgent, type SandboxBackendProtocolV2, type SubAgent } from "deepagents";
import { type AgentMiddleware, todoListMiddleware } from "langchain";
import type { AgentDefinition, ApprovalRule, ResolvedAgent } from "../agent/agent-definition.ts";
import type { MemoryFile } from "../agent/memory-files.ts";
import type { OnCrash, RegisteredTool } from "../tool/tool.ts";
import { type ContextParts, toGraphTool } from "./graph-tool.ts";
import { createJournalMiddleware } from "./journal-middleware.ts";
import { createPlanMiddleware } from "./plan-events.ts";
import { createToolGate, type ToolRefusal } from "./tool-gate.ts";

export interface AgentGraphParts {
  checkpointer: BaseCheckpointSaver;
  store: BaseStore;
  backend: SandboxBackendProtocolV2;
  tools: readonly RegisteredTool[];
  contextParts: ContextParts;
  /** Which model an agent of the tree uses; the session's own agent's is given apart. */
  modelOf(agent: AgentDefinition): BaseChatModel;
  onCrash(tool: string): OnCrash;
  /** Whether it may change files. */
  writes(tool: string): boolean;
  refusalFor(agent: AgentDefinition): ToolRefusal;
  approvalsOf(agent: AgentDefinition): Readonly<Record<string, ApprovalRule>>;
  /** What the workspace's own files (AGENTS.md) tell every agent. */
  memory: readonly MemoryFile[];
}

export type AgentGraph = ReturnType<typeof createDeepAgent>;

/** What deepagents would add by itself, without our journal in it. */
const GENERAL_PURPOSE = "general-purpose";

/** The graph of an agent and of everything it may delegate to. Holds nothing of a session or a run. */
export function createAgentGraph(
  { definition, subagents, delegates }: ResolvedAgent,
  parts: AgentGraphParts,
): AgentGraph {
  const byName = new Map([definition, ...subagents].map((agent) => [agent.name, agent]));
  const specs = new Map<string, SubAgent>();

  function specOf(name: string): SubAgent {
    const known = specs.get(name);
    if (known) return known;
    const agent = byName.get(name) as AgentDefinition;
    const spec = subagentSpec(agent, parts);
    specs.set(name, spec);
    return spec;
  }

  const reachable = delegates[definition.name] ?? [];
  const general = generalPurpose(definition, parts);
  const named = reachable.filter((name) => name !== GENERAL_PURPOSE).map(specOf);
  return createDeepAgent({
    name: definition.name,
    model: parts.modelOf(definition),
    systemPrompt: promptOf(definition, parts),
    tools: graphTools(parts),
    subagents: [general, ...named],
    middleware: middlewareOf(definition, parts, true),
    backend: parts.backend,
    checkpointer: parts.checkpointer,
    store: parts.store,
  }) as AgentGraph;
}

function middlewareOf(agent: AgentDefinition, parts: AgentGraphParts, isRoot: boolean): AgentMiddleware[] {
  return [
    todoListMiddleware(),
    createToolGate(parts.refusalFor(agent)),
    createPlanMiddleware(),
    createJournalMiddleware({
      agent_name: agent.name,
      isRoot,
      onCrash: parts.onCrash,
      writes: parts.writes,
      approvals: parts.approvalsOf(agent),
      refusal: parts.refusalFor(agent),
    }),
  ] as unknown as AgentMiddleware[];
}

function promptOf({ system_prompt }: AgentDefinition, { memory }: AgentGraphParts): string {
  const files = memory.map(({ path, content }) => `## ${path}\n\n${content}`);
  return [system_prompt, ...files].filter((part) => part !== "").join("\n\n");
}

function graphTools({ tools, contextParts }: AgentGraphParts) {
  return tools.map((tool) => toGraphTool(tool, contextParts));
}

function subagentSpec(agent: AgentDefinition, parts: AgentGraphParts): SubAgent {
  return {
    name: agent.name,
    description: agent.description,
    systemPrompt: promptOf(agent, parts),
    model: parts.modelOf(agent),
    tools: graphTools(parts),
    middleware: middlewareOf(agent, parts, false),
  };
}

/** An assistant with the same rights as the agent that calls it, for work that should not fill its context. */
function generalPurpose(agent: AgentDefinition, parts: AgentGraphParts): SubAgent {
  const twin = {
    ...agent,
    name: GENERAL_PURPOSE,
    description: "A general assistant for a task of several steps, with the same tools.",
  };
  const spec = subagentSpec(twin, parts);
  return { ...spec, model: parts.modelOf(agent) };
}
