import { join } from "node:path";
import { createTasks, type Storage } from "@cognition/thread";
import { createAgentFiles } from "./agent/agent-files.ts";
import { type AgentRegistry, createAgentRegistry } from "./agent/agent-registry.ts";
import { BUILTIN_AGENT_NAMES } from "./agent/builtin-agents.ts";
import { createDurableAgentStore } from "./agent/durable-agent-store.ts";
import { createSkillFiles } from "./agent/skill-files.ts";
import { createBudgets } from "./budget/budgets.ts";
import { createChatStores } from "./chat/chat-stores.ts";
import { createChats } from "./chat/chats.ts";
import type { Config } from "./config/config-schema.ts";
import { CONFIG_FILE } from "./config/file-layer.ts";
import { modelSettings } from "./config/model-settings.ts";
import { sandboxSettings } from "./config/sandbox-settings.ts";
import { configuredServers, toolSettings } from "./config/tool-settings.ts";
import { defaultConfig } from "./config.ts";
import { createProblemWatch } from "./file/problem-watch.ts";
import { isLoopback } from "./http/guard/known-host.ts";
import type { RequestLogger } from "./http/guard/request-log.ts";
import { createRequestMetrics } from "./http/guard/request-metrics.ts";
import type { Authenticate, Guard } from "./http/guard.ts";
import { createNodeApp, type NodeApp } from "./http/node-app.ts";
import { openAccess } from "./http/open-access.ts";
import type { LoadPage } from "./http/page.ts";
import { createDurableProviderStore } from "./model/durable-provider-store.ts";
import type { Environment } from "./model/key-ring.ts";
import { createModelRegistry, type ModelRegistry } from "./model/model-registry.ts";
import { createRunEngine, type RunEngine, type RunEngineOptions } from "./run/run-engine.ts";
import { createAgentOpener } from "./runtime/agent-opener.ts";
import { type GraphSource, graphDefinition, loadCustomGraphs } from "./runtime/custom-graph.ts";
import { createGraphExecutor } from "./runtime/graph-executor.ts";
import { createLeftCommands, type LeftCommands } from "./runtime/left-commands.ts";
import { loadMiddleware, type MiddlewareSource } from "./runtime/named-middleware.ts";
import { createSharedLooks } from "./runtime/shared-looks.ts";
import { createSandboxes } from "./sandbox/create-sandboxes.ts";
import { databaseFiles } from "./sandbox/file/protected-paths.ts";
import type { Sandboxes } from "./sandbox/sandbox.ts";
import { createDeletedFolders } from "./session/deleted-folders.ts";
import { createSessions, type Sessions } from "./session/sessions.ts";
import { makeRoot } from "./session/workspace-folder.ts";
import { countDeliveries } from "./telemetry/count-deliveries.ts";
import { createTelemetry, type Telemetry } from "./telemetry/telemetry.ts";
import { createRetention } from "./timeline/retention.ts";
import { createTimeline, type Timeline } from "./timeline/timeline.ts";
import { createWorkspaces } from "./timeline/workspace/workspaces.ts";
import { createBuiltinTools } from "./tool/builtin-tools.ts";
import { confineArtifacts } from "./tool/confine-artifacts.ts";
import type { ToolDefinition } from "./tool/tool.ts";
import { createToolFiles } from "./tool/tool-files.ts";
import { createToolRegistry, type ToolRegistry } from "./tool/tool-registry.ts";
import { VERSION } from "./version.ts";
import { createWebhooks } from "./webhook/webhooks.ts";

export interface ComposeOptions {
  storage: Storage;
  /** Where agents, tools and skills are defined (`.cognition/`), and where sessions have their folders. */
  workspace_root: string;
  env: Environment;
  /** All else there is to set; what stands beside it here goes over it. */
  config?: Config;
  sandbox?: string;
  /** The storage's own file, if it has one: no agent may read it. */
  state_database?: string;
  /** Tools besides the built-in ones and those of files. */
  tools?: readonly ToolDefinition[];
  /** Compiled LangGraph graphs that are agents, by name: each a graph, or `./path.ts#export` from the workspace's root. */
  graphs?: Readonly<Record<string, GraphSource>>;
  /** LangChain middleware that agents may name: each a function that makes it, or `./path.ts#export`. */
  middleware?: Readonly<Record<string, MiddlewareSource>>;
  /** In place of what the configuration says of who asks and what every request passes; see `http/guard.ts`. */
  authenticate?: Authenticate;
  guards?: readonly Guard[];
  /** What browsers are shown at `/`, unless the configuration says not to. */
  page?: LoadPage;
  /** Where requests are logged; nowhere by default. */
  log?: RequestLogger;
  /** Whose metrics and traces these are; its maker closes it. By default the configuration's own. */
  telemetry?: Telemetry;
  /** Holds every reply to its schema: for tests. */
  check_replies?: boolean;
  engine?: Partial<Pick<RunEngineOptions, "owner" | "lease_ms" | "max_runs" | "poll_ms" | "max_stalled_attempts">>;
  onError: RunEngineOptions["onError"];
  /** False for one that only answers requests: it takes up no run, sends no callback and clears nothing away. */
  works?: boolean;
}

export interface Runtime {
  engine: RunEngine;
  agents: AgentRegistry;
  models: ModelRegistry;
  tools: ToolRegistry;
  sandboxes: Sandboxes;
  /** Begins to claim runs and to send callbacks. */
  start(): void;
  sessions: Sessions;
  timeline: Timeline;
  http: NodeApp;
  /** Claims no more runs and hands over what runs; then ends streams. What is asked afterwards is still answered. */
  drain(drain_ms?: number): Promise<void>;
  /** Hands over what runs, then lets go of processes, watchers and servers; the storage stays open. */
  close(drain_ms?: number): Promise<void>;
}

/** Joins the parts. The only place that names them all. */
export async function compose(options: ComposeOptions): Promise<Runtime> {
  const { storage, workspace_root: root, config = defaultConfig() } = options;
  makeRoot(root);
  const parts = await openParts(options, config);
  const { models, tools, agents, sandboxes, telemetry, webhooks, workspaces, retention, problems } = parts;
  const left = createLeftCommands({ storage, sandboxes, onError: (error) => options.onError(error, "") });
  const engine = createEngine(options, config, { ...parts, left });
  const { isolation } = config.workspace;
  const workspace = { workspace_root: root, isolation, scoping: config.scoping.enabled };
  const deleted = createDeletedFolders({
    ...{ storage, sandboxes, engine, workspaces, workspace_root: root },
    onError: (error) => options.onError(error, ""),
  });
  const sessions = createSessions({
    ...{ storage, agents, models, sandboxes, engine, workspaces, ...workspace, deletedFolders: deleted },
  });
  const timeline = createTimeline({ storage, workspaces, agents, workspace_root: root });
  const http = createHttp(options, config, { ...parts, engine, sessions, timeline });
  telemetry.metrics.watch({
    activeRuns: () => engine.active.length,
    openStreams: () => http.streams.open,
    storageUp: async () => (await storage.healthCheck()).ok,
    queuedRuns: () => storage.countQueuedRuns(),
    pendingDeliveries: () => storage.countDeliveries({ status: "pending" }),
    circuitBreakers: () => models.circuitBreakers(),
  });
  const drain = async (drain_ms = config.runs.drain_ms) => {
    await engine.drain(drain_ms);
    http.close();
  };
  return {
    ...{ engine, agents, models, tools, sandboxes, sessions, timeline, http, drain },
    start: () => {
      engine.start();
      deleted.start();
      left.start();
      webhooks.start();
      retention.start();
      problems.start();
    },
    close: async (drain_ms = config.runs.drain_ms) => {
      await drain(drain_ms);
      deleted.stop();
      left.stop();
      problems.stop();
      await Promise.all([webhooks.stop(drain_ms), retention.stop()]);
      await Promise.all([tools.close(), sandboxes.close({ leave: true }), workspaces.close()]);
      if (!options.telemetry) await telemetry.close();
    },
  };
}

type Parts = Awaited<ReturnType<typeof openParts>>;

/** What needs neither a run nor a request. */
async function openParts(options: ComposeOptions, config: Config) {
  const { storage, workspace_root: root, env } = options;
  const onError = (error: unknown) => options.onError(error, "");
  const models = createModelRegistry({
    ...{ env, store: createDurableProviderStore({ storage }) },
    sharedBreakers: { store: storage.breakers, onError },
    ...modelSettings(config),
  });
  await models.checkDefaults();
  const telemetry = options.telemetry ?? (await createTelemetry(config));
  // Before anything that would have to be let go of again.
  const access = await openAccess({ config, storage, models, log: options.log, onError });
  const checkpointer = await storage.getCheckpointer();
  const tools = createToolRegistry({
    builtins: [...createBuiltinTools(toolSettings(config)), ...(options.tools ?? [])],
    disabled: config.tools.disabled,
    files: createToolFiles({ root }),
    servers: configuredServers(config, root),
  });
  const sources = { ...config.agents.graphs, ...options.graphs };
  const graphs = await loadCustomGraphs({ sources, root, checkpointer, reserved: BUILTIN_AGENT_NAMES });
  const middleware = await loadMiddleware({ ...config.agents.middleware, ...options.middleware }, root);
  const skills = createSkillFiles({ root });
  const agents = createAgentRegistry({
    store: createDurableAgentStore({ storage }),
    files: createAgentFiles({ root }),
    skills,
    tools,
    registered: [...graphs.values()].map(graphDefinition),
    middleware: [...middleware.keys()],
    providers: async (scope) => (await models.list(scope)).map(({ id }) => id),
  });
  return {
    ...{ models, telemetry, access, checkpointer, tools, graphs, middleware, skills, agents },
    sandboxes: await openSandboxes(options, config),
    workspaces: createWorkspaces({
      ...{ snapshots: storage.snapshots, root, onError },
      never: options.state_database ? databaseFiles(options.state_database) : [],
      max_file_bytes: config.workspace.snapshot_max_file,
      quota_bytes: config.workspace.snapshot_quota,
      exclude: config.workspace.snapshot_exclude,
    }),
    retention: createRetention({ storage, saver: checkpointer, settings: config.retention, onError }),
    webhooks: createWebhooks({
      storage: countDeliveries(storage, telemetry.metrics),
      settings: config.webhooks,
      onError,
    }),
    budgets: createBudgets({ storage, onError }),
    problems: createProblemWatch({
      find: async () => (await Promise.all([agents.problems(), tools.problems()])).flat(),
      onError,
    }),
  };
}

type EngineParts = Parts & { left: LeftCommands };

function createEngine(options: ComposeOptions, config: Config, parts: EngineParts): RunEngine {
  const { storage, workspace_root } = options;
  const { checkpointer, agents, telemetry, webhooks, workspaces, budgets, left } = parts;
  const openAgent = createAgentOpener({
    ...parts,
    storage,
    storeFor: (scope) => storage.getStore(scope),
    artifactsFor: (context) => confineArtifacts(storage.artifacts, context),
    workspace_root,
  });
  const shared = createSharedLooks();
  const { max_runs, lease_ms, poll_ms } = config.runs;
  return createRunEngine({
    ...{ owner: "node", max_runs, lease_ms, poll_ms },
    ...options.engine,
    storage,
    saver: checkpointer,
    executor: createGraphExecutor({ storage, openAgent, workspaces, budgets }),
    revisionOf: ({ agent_name, scopes }) =>
      shared(JSON.stringify([agent_name, scopes]), async () => {
        return (await agents.resolveForSession(agent_name, scopes)).revision;
      }),
    ...webhooks.hooks,
    onLost: left.start,
    observe: telemetry.observe,
    newTraceId: telemetry.newTraceId,
    onError: options.onError,
  });
}

type HttpParts = Parts & Pick<Runtime, "engine" | "sessions" | "timeline">;

function createHttp(options: ComposeOptions, config: Config, parts: HttpParts): NodeApp {
  const { storage } = options;
  const { access, sandboxes, sessions, webhooks } = parts;
  const { metrics } = parts.telemetry;
  return createNodeApp({
    parts: {
      ...parts,
      ...{ storage, metrics },
      chats: createChats({ storage, sessions, storeFor: createChatStores(storage, config) }),
      tasks: createTasks(storage),
      version: VERSION,
      started: now(),
      warnings: [...sandboxes.describe().warnings, ...access.warnings],
      problems: parts.problems.look,
      onDue: webhooks.wake,
    },
    scoping: config.scoping,
    sse: config.sse,
    max_body_bytes: config.server.body_limit,
    authenticate: options.authenticate ?? access.authenticate,
    recheck_ms: config.auth.recheck_interval * 1000,
    clientAddress: access.clientAddress,
    page: config.server.page ? options.page : undefined,
    guards: [createRequestMetrics({ counter: metrics, now }), ...(options.guards ?? access.guards)],
    check_replies: options.check_replies ?? false,
    onError: (error) => options.onError(error, ""),
  });
}

const now = () => performance.now();

function openSandboxes(options: ComposeOptions, config: Config): Promise<Sandboxes> {
  const { limits, docker } = sandboxSettings(config, options.workspace_root);
  return createSandboxes({
    backend: options.sandbox ?? config.sandbox.backend,
    environment: options.env,
    limits,
    docker: { ...docker, reclaim: options.works !== false },
    commandFolder: join(options.workspace_root, ".cognition", "commands"),
    exposure: {
      scoping: config.scoping.enabled,
      loopback: isLoopback(config.server.host),
      allowUnisolated: config.sandbox.allow_unisolated,
      sharedFolder: config.workspace.isolation === "shared",
    },
    configuration: join(options.workspace_root, CONFIG_FILE),
    ...(options.state_database ? { stateDatabase: options.state_database } : {}),
  });
}
