import { AppError, type Scope, type Skill } from "@cognition/contract";
import {
  type CheckpointSaver,
  type RunSession,
  type SessionContext,
  type Storage,
  type Store,
  sessionContext,
} from "@cognition/thread";
import type { BaseChatModel } from "@langchain/core/language_models/chat_models";
import type { BaseCheckpointSaver, BaseStore } from "@langchain/langgraph-checkpoint";
import type { AgentDefinition, ResolvedAgent } from "../agent/agent-definition.ts";
import type { AgentRegistry } from "../agent/agent-registry.ts";
import { type MemoryFile, readMemoryFiles } from "../agent/memory-files.ts";
import type { SkillFiles } from "../agent/skill-files.ts";
import { forgetOldest } from "../forget-oldest.ts";
import type { ModelRegistry } from "../model/model-registry.ts";
import type { ModelChoice, ModelSelection } from "../model/select-model.ts";
import { reportedUsage, usageOf } from "../model/usage.ts";
import type { RunWork } from "../run/executor.ts";
import { unlessAborted } from "../run/unless-aborted.ts";
import type { Sandbox, Sandboxes } from "../sandbox/sandbox.ts";
import { makeFolder } from "../session/workspace-folder.ts";
import { isReading, type ToolArtifacts } from "../tool/tool.ts";
import type { KnownTools, ToolRegistry } from "../tool/tool-registry.ts";
import { type AgentGraph, createAgentGraph } from "./agent-graph.ts";
import { agentParts, type SharedParts } from "./agent-parts.ts";
import { describeCommands } from "./command-description.ts";
import type { CustomGraph } from "./custom-graph.ts";
import type { GraphExecutorOptions } from "./graph-executor.ts";
import type { NamedMiddleware } from "./named-middleware.ts";
import { createSharedLooks } from "./shared-looks.ts";
import { createWorkspaceBackend } from "./workspace-backend.ts";

export interface AgentOpenerOptions {
  storage: Storage;
  checkpointer: CheckpointSaver;
  /** The memory, confined to a scope. */
  storeFor(scope: Scope): Promise<Store>;
  artifactsFor(reader: { scope: Scope; session_id: string; run_id: string }): ToolArtifacts;
  agents: AgentRegistry;
  models: ModelRegistry;
  sandboxes: Sandboxes;
  tools: Pick<ToolRegistry, "ask" | "known">;
  skills: Pick<SkillFiles, "refresh" | "read" | "list">;
  middleware: ReadonlyMap<string, NamedMiddleware>;
  /** Users' own graphs, by the name of their agent. */
  graphs: ReadonlyMap<string, CustomGraph>;
  /** Where sessions have their folders, an absolute path. */
  workspace_root: string;
}

const RECURSION_LIMIT = 10_000;
/** Graphs that are kept: building one takes longer than a short run. */
const GRAPHS_KEPT = 200;

/** Gives each run its agent: the revision it began with, the model it asked for, the folder of its session. */
export function createAgentOpener(options: AgentOpenerOptions): GraphExecutorOptions["openAgent"] {
  const graphs = new Map<string, Promise<AgentGraph>>();
  const shared = createSharedLooks();

  /** All that is read from files and, unless nobody is to be waited for, asked of MCP servers. */
  async function look({ revision, name, scopes }: Wanted, asks: boolean): Promise<AgentFiles> {
    const agent = await (revision ? options.agents.at(revision) : options.agents.resolveForSession(name, scopes));
    const asked = asks && agent.definition.source !== "graph";
    // First: a graph that is kept would never learn that a server is back, or has other tools.
    const known = await (asked ? options.tools.ask(wantedTools(treeOf(agent))) : options.tools.known());
    const [memory, { skills }] = await Promise.all([
      readMemoryFiles(options.workspace_root, agent.definition),
      options.skills.refresh(),
    ]);
    if (asks) requireListed(agent.definition, known);
    return { agent, known, memory, skills };
  }

  /** Once for all runs that begin together; each waits only until it is told to stop. */
  async function lookFor(wanted: Wanted, { signal, drain }: Pick<RunWork, "signal" | "drain">): Promise<AgentFiles> {
    const { revision, name, scopes } = wanted;
    const looking = shared(JSON.stringify([revision, name, scopes]), () => look(wanted, true));
    return unlessAborted(AbortSignal.any([signal, drain]), looking);
  }

  async function graphFor(files: AgentFiles, session: RunSession, model: string | undefined): Promise<AgentGraph> {
    const { agent, known, memory, skills } = files;
    const models = await selectModels(options.models, agent, session, model === undefined ? {} : { model });
    const key = JSON.stringify([agent.revision, session.config, session.scopes, models, known.version, memory, skills]);
    let graph = graphs.get(key);
    if (!graph) {
      forgetOldest(graphs, GRAPHS_KEPT);
      graph = buildGraph(options, { ...files, session, models });
      graphs.set(key, graph);
      graph.catch(() => graphs.delete(key)); // the next run tries anew
    }
    return graph;
  }

  return async ({ claimed: { run, session }, ...signals }, input, purpose) => {
    const { agent_revision: revision, agent_name: name } = run;
    const { scopes, config } = session;
    const wanted = { revision, name, scopes };
    const [files, sandbox, context] = await Promise.all([
      purpose === "settle" ? look(wanted, false) : lookFor(wanted, signals),
      openSandbox(options, session),
      sessionContext(options.storage, session),
    ]);
    const { definition } = files.agent;
    if (definition.source === "graph") return openCustom(options, { definition, session, sandbox, context });
    return {
      ...(await graphFor(files, session, input.model)),
      root_agent: definition.name,
      sandbox,
      context,
      usageOf,
      pipelined: isOurs(files.agent),
      config: { recursionLimit: config.recursion_limit ?? definition.config.recursion_limit ?? RECURSION_LIMIT },
    };
  };
}

/** A middleware of a user's may have effects of its own, which the journal does not see. */
function isOurs(agent: ResolvedAgent): boolean {
  return treeOf(agent).every(({ middleware }) => middleware.length === 0);
}

interface CustomAgent {
  definition: AgentDefinition;
  session: RunSession;
  sandbox: Sandbox;
  context: SessionContext;
}

/** A user's own graph has its own limit of steps, and its own models, whose usage is told as they report it. */
async function openCustom(options: AgentOpenerOptions, { definition, session, sandbox, context }: CustomAgent) {
  const custom = options.graphs.get(definition.name);
  if (!custom) {
    const message = `The graph ${definition.name} is not registered any more; the session is kept. Register it again, or give the session another agent.`;
    throw new AppError("unknown_agent", message, { details: { agent: definition.name } });
  }
  const { recursion_limit } = session.config;
  const store = (await options.storeFor(session.scopes)) as unknown as BaseStore;
  return {
    graph: custom.graph,
    root_agent: definition.name,
    sandbox,
    context,
    custom,
    pipelined: custom.passes,
    usageOf: reportedUsage,
    config: { store, ...(recursion_limit ? { recursionLimit: recursion_limit } : {}) },
  };
}

interface Wanted {
  revision: string | null;
  name: string;
  scopes: Scope;
}

interface AgentFiles {
  agent: ResolvedAgent;
  known: KnownTools;
  memory: readonly MemoryFile[];
  skills: readonly Skill[];
}

async function openSandbox(options: AgentOpenerOptions, session: RunSession): Promise<Sandbox> {
  const { storage, workspace_root, sandboxes } = options;
  return sandboxes.open(session.id, await makeFolder(storage, workspace_root, session));
}

interface GraphFor extends AgentFiles {
  session: RunSession;
  models: readonly ModelSelection[];
}

async function buildGraph(options: AgentOpenerOptions, wanted: GraphFor): Promise<AgentGraph> {
  const { agent, session, memory, skills } = wanted;
  const { tools: known, usable } = wanted.known;
  const tree = treeOf(agent);
  const models = new Map<string, BaseChatModel>();
  for (const [at, selection] of wanted.models.entries()) {
    models.set(tree[at]?.name ?? "", await options.models.createModel(selection));
  }
  const store = await options.storeFor(session.scopes);
  const shared: SharedParts = {
    storage: options.storage,
    session,
    tools: usable,
    known,
    skills,
    skillFiles: options.skills,
    middleware: options.middleware,
    contextParts: ({ work }) => ({
      store: store.recordedFor(work.claimed.thread_id),
      artifacts: options.artifactsFor({
        scope: work.claimed.session.scopes,
        session_id: work.claimed.session.id,
        run_id: work.claimed.run_id,
      }),
    }),
  };
  return createAgentGraph(agent, {
    checkpointer: options.checkpointer as unknown as BaseCheckpointSaver,
    store: store as unknown as BaseStore,
    backend: createWorkspaceBackend(),
    commands: describeCommands(options.sandboxes.describe().capabilities),
    modelOf: ({ name }) => models.get(name) as BaseChatModel,
    partsOf: (definition, isRoot) => agentParts(shared, definition, isRoot),
    onCrash: (name) => known.get(name)?.on_crash ?? "never",
    writes: (name) => !isReading(known.get(name) ?? { effect: "execute" }),
    memory,
  });
}

function treeOf({ definition, subagents }: ResolvedAgent): AgentDefinition[] {
  return [definition, ...subagents];
}

/** Of each agent of the tree, as its provider is defined at this moment: a graph holds its models for as long as it is kept. */
async function selectModels(
  models: ModelRegistry,
  agent: ResolvedAgent,
  { config: session, scopes: scope }: RunSession,
  message: ModelChoice,
): Promise<ModelSelection[]> {
  return Promise.all(
    treeOf(agent).map(({ model, config }) => models.select({ message, session, agent: { ...config, model }, scope })),
  );
}

/** Without what its definition counts on, an agent would say that it can't, or do something else in its place. */
function requireListed({ name, tools }: AgentDefinition, known: KnownTools): void {
  const away = (tools ?? []).filter((tool) => known.has(tool) && !known.tools.has(tool));
  if (away.length === 0) return;
  const message =
    `The agent ${name} can't work: the MCP server of ${away.join(", ")} could not be reached (GET /health says why). ` +
    "What was said is kept: resume the session once the server is back.";
  throw new AppError("tool_failed", message, { details: { agent: name, tools: away } });
}

/** Null, for all of them, as soon as one agent of the tree has all. */
function wantedTools(agents: readonly AgentDefinition[]): string[] | null {
  const wanted: string[] = [];
  for (const { tools } of agents) {
    if (tools === null) return null;
    wanted.push(...tools);
  }
  return wanted;
}
