import type { Skill } from "@cognition/contract";
import type { BaseChatModel } from "@langchain/core/language_models/chat_models";
import type { StructuredTool } from "@langchain/core/tools";
import type { BaseCheckpointSaver, BaseStore } from "@langchain/langgraph-checkpoint";
import { type CompiledSubAgent, createDeepAgent, type SandboxBackendProtocolV2, type SubAgent } from "deepagents";
import type { AgentMiddleware } from "langchain";
import type { AgentDefinition, ApprovalRule, ResolvedAgent } from "../agent/agent-definition.ts";
import type { MemoryFile } from "../agent/memory-files.ts";
import type { OnCrash } from "../tool/tool.ts";
import { createFilesMiddleware } from "./files-middleware.ts";
import { createJournalMiddleware } from "./journal-middleware.ts";
import { inOneCall } from "./one-call.ts";
import { createPairedCalls } from "./paired-calls.ts";
import { createPlanMiddleware } from "./plan-middleware.ts";
import { createPromptMiddleware } from "./prompt-middleware.ts";
import { createResponseMiddleware } from "./response-tool.ts";
import type { RunGraph } from "./run-graph.ts";
import { skillsPrompt } from "./skill-tool.ts";
import { createSummaries } from "./summaries.ts";
import { createTodos } from "./todos.ts";
import { createToolGate } from "./tool-gate.ts";
import type { ToolRefusal } from "./tool-rules.ts";

/** What one agent of the tree is made of. */
export interface AgentParts {
  prompt: string;
  tools: StructuredTool[];
  skills: readonly Skill[];
  refusal: ToolRefusal;
  approvals: Readonly<Record<string, ApprovalRule>>;
  /** Those that its definition names. */
  middleware: readonly AgentMiddleware[];
}

export interface AgentGraphParts {
  checkpointer: BaseCheckpointSaver;
  store: BaseStore;
  backend: SandboxBackendProtocolV2;
  /** What models are told of running commands there. */
  commands: string;
  partsOf(agent: AgentDefinition, isRoot: boolean): AgentParts;
  modelOf(agent: AgentDefinition): BaseChatModel;
  onCrash(tool: string): OnCrash;
  /** Whether it may change files. */
  writes(tool: string): boolean;
  /** What the workspace's own files (AGENTS.md) tell every agent. */
  memory: readonly MemoryFile[];
}

export interface AgentGraph {
  graph: RunGraph;
  /** What the first input of a thread has besides what it is given. Later its state may lack it, after a rewind to its beginning. */
  initial: object;
}

/**
 * LangChain's agent gives every input the values that its middleware's state begins with, and for that reads the whole thread
 * and builds its schemas anew each time: a tenth of a short run, and more in a long thread. Of what an agent without named
 * middleware is made of, this is all of it.
 */
export const INITIAL_STATE = { todos: [] };

/** What deepagents would add by itself, without our journal in it. */
const GENERAL_PURPOSE = "general-purpose";

/** The graph of an agent and of everything it may delegate to, at any depth. Holds nothing of a session or a run. */
export function createAgentGraph(
  { definition, subagents, delegates }: ResolvedAgent,
  parts: AgentGraphParts,
): AgentGraph {
  const byName = new Map(subagents.map((agent) => [agent.name, agent]));
  const made = new Map<string, SubAgent | CompiledSubAgent>();

  // Delegation has no cycle (see `planDelegation`), so every agent can be made after those it delegates to.
  function subagentsOf(agent: AgentDefinition): (SubAgent | CompiledSubAgent)[] {
    const names = (delegates[agent.name] ?? []).filter((name) => name !== GENERAL_PURPOSE);
    return [generalPurpose(agent, parts), ...names.map(subagent)];
  }

  function subagent(name: string): SubAgent | CompiledSubAgent {
    const known = made.get(name);
    if (known) return known;
    const agent = byName.get(name) as AgentDefinition;
    const isLeaf = (delegates[name] ?? []).length === 0;
    const one = isLeaf ? leaf(agent, parts) : delegating(agent, subagentsOf(agent), parts);
    made.set(name, one);
    return one;
  }

  const agent = createDeepAgent({
    ...agentOptions(definition, subagentsOf(definition), parts, true),
    checkpointer: parts.checkpointer,
    store: parts.store,
  });
  const isKnown = definition.middleware.length === 0;
  return isKnown
    ? { graph: agent.graph as unknown as RunGraph, initial: INITIAL_STATE }
    : { graph: agent as unknown as RunGraph, initial: {} };
}

function agentOptions(
  agent: AgentDefinition,
  subagents: (SubAgent | CompiledSubAgent)[],
  parts: AgentGraphParts,
  isRoot: boolean,
) {
  const own = parts.partsOf(agent, isRoot);
  return {
    name: agent.name,
    model: parts.modelOf(agent),
    systemPrompt: promptOf(own, parts),
    tools: own.tools,
    subagents,
    middleware: middlewareOf(agent, own, parts, { isRoot, delegates: subagents.map(({ name }) => name) }),
    backend: parts.backend,
  };
}

interface Place {
  isRoot: boolean;
  /** Whom it may delegate to. */
  delegates: readonly string[];
}

function middlewareOf(
  agent: AgentDefinition,
  { refusal, approvals, middleware }: AgentParts,
  { onCrash, writes, backend, commands }: AgentGraphParts,
  { isRoot, delegates }: Place,
): AgentMiddleware[] {
  const outer = [
    // The first three take the place of deepagents' own, which have their names.
    createFilesMiddleware(backend, commands),
    createSummaries(backend, isRoot),
    createPairedCalls(isRoot),
    createTodos(),
  ] as unknown as AgentMiddleware[];
  const inner = [
    createToolGate(refusal),
    ...(isRoot ? [createPromptMiddleware()] : []),
    ...(agent.response_format ? [createResponseMiddleware({ agent_name: agent.name, isRoot })] : []),
    createPlanMiddleware({ agent_name: agent.name, isRoot }),
    createJournalMiddleware({ agent_name: agent.name, isRoot, onCrash, writes, approvals, refusal, delegates }),
  ] as unknown as AgentMiddleware[];
  return [...inOneCall("outer-model-call", outer), ...middleware, ...inOneCall("inner-model-call", inner)];
}

function promptOf({ prompt, skills }: AgentParts, { memory }: AgentGraphParts): string {
  const files = memory.map(({ path, content }) => `## ${path}\n\n${content}`);
  return [prompt, ...files, skillsPrompt(skills)].filter((part) => part !== "").join("\n\n");
}

function leaf(agent: AgentDefinition, parts: AgentGraphParts): SubAgent {
  const own = parts.partsOf(agent, false);
  return {
    name: agent.name,
    description: agent.description,
    systemPrompt: promptOf(own, parts),
    model: parts.modelOf(agent),
    tools: own.tools,
    middleware: middlewareOf(agent, own, parts, { isRoot: false, delegates: [] }),
  };
}

/** Works on the caller's thread, below its namespace: the checkpointer and the store come with the call. */
function delegating(
  agent: AgentDefinition,
  subagents: (SubAgent | CompiledSubAgent)[],
  parts: AgentGraphParts,
): CompiledSubAgent {
  const runnable = createDeepAgent(agentOptions(agent, subagents, parts, false));
  return { name: agent.name, description: agent.description, runnable: runnable as never };
}

/** An assistant with the same rights as the agent that calls it, for work that should not fill its context. */
function generalPurpose(agent: AgentDefinition, parts: AgentGraphParts): SubAgent {
  const description = "A general assistant for a task of several steps, with the same tools.";
  const twin = leaf({ ...agent, name: GENERAL_PURPOSE, description, response_format: null }, parts);
  return { ...twin, model: parts.modelOf(agent) };
}
