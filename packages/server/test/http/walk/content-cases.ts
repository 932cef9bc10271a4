import type { RouteName } from "@cognition/contract";
import { type Outcome, plain, type WalkCase, walk } from "./case.ts";
import type { Parts } from "./send.ts";
import type { World } from "./world.ts";

const unknownAgent = "422 unknown_agent";
const unknownProvider = "422 unknown_provider";
const noArtifact = "404 artifact_not_found";
const noAgent = "404 agent_not_found";
const noProvider = "404 provider_not_found";
const noItem = "404 store_item_not_found";
const noTask = "404 task_not_found";
const noChat = "404 chat_not_found";
const notHis = "403 scope_mismatch";

/** A private artifact is seen by whoever names its session. */
function ofArtifact(more: (world: World) => Parts = () => ({})): WalkCase {
  const foreign = { "path.id": noArtifact, "query.session_id": noArtifact, "query.run_id": "own" } as const;
  return walk(foreign, (world) => {
    const { path, query, ...rest } = more(world);
    const { artifact_id, session_id, run_id } = world;
    return { path: { id: artifact_id, ...path }, query: { session_id, run_id, ...query }, ...rest };
  });
}

const artifacts = {
  listArtifacts: walk(
    { "query.session_id": "nothing", "query.run_id": "nothing", "query.cursor": "nothing" },
    ({ session_id, run_id, mark }) => ({ query: { session_id, run_id, name: mark } }),
    ({ artifact_id }) => ({ query: { cursor: artifact_id } }),
  ),
  createArtifact: walk(
    { "body.session_id": "404 session_not_found", "body.run_id": "404 run_not_found" },
    ({ session_id }) => ({ body: { name: "new", content: "new", session_id } }),
    ({ run_id }) => ({ body: { name: "new", content: "new", visibility: "public", run_id } }),
  ),
  getArtifact: ofArtifact(),
  updateArtifact: ofArtifact(() => ({ body: { content: "changed" } })),
  deleteArtifact: ofArtifact(),
  getArtifactContent: ofArtifact(),
  listArtifactVersions: ofArtifact(),
  getArtifactVersion: ofArtifact(() => ({ path: { n: 1 } })),
  diffArtifact: ofArtifact(() => ({ query: { from: 1, to: 1 } })),
} satisfies Partial<Record<RouteName, WalkCase>>;

const named = { "body.subagents[]": unknownAgent, "body.config.provider_id": unknownProvider } as const;
const definition = ({ agent_name, provider_id }: World) => ({ subagents: [agent_name], config: { provider_id } });

/** An agent that names itself among its subagents would be refused, so it names none here. */
function ofAgent(body?: object): WalkCase {
  return walk({ "path.name": noAgent }, ({ agent_name }) => ({ path: { name: agent_name }, ...(body && { body }) }));
}

const agents = {
  listAgents: plain(),
  createAgent: walk({ ...named, "body.name": "own" }, (world) => ({
    body: { name: `${world.agent_name}-new`, ...definition(world) },
  })),
  getAgent: ofAgent(),
  replaceAgent: walk({ "path.name": "own", ...named }, (world) => ({
    path: { name: world.agent_name },
    body: { ...definition(world), subagents: [world.helper_name] },
  })),
  updateAgent: walk({ "path.name": noAgent, ...named }, (world) => ({
    path: { name: world.agent_name },
    body: { ...definition(world), subagents: [world.helper_name] },
  })),
  deleteAgent: ofAgent(),
  listSkills: plain(),
  listTools: plain(),
} satisfies Partial<Record<RouteName, WalkCase>>;

function ofProvider(body?: object): WalkCase {
  return walk({ "path.id": noProvider }, ({ provider_id }) => ({ path: { id: provider_id }, ...(body && { body }) }));
}

const providers = {
  listModels: walk({ "query.provider_id": "nothing" }, ({ provider_id }) => ({ query: { provider_id } })),
  listProviders: plain(),
  createProvider: walk({ "body.id": "own" }, ({ provider_id }) => ({
    body: { id: `${provider_id}-new`, provider: "offline" },
  })),
  getProvider: ofProvider(),
  updateProvider: ofProvider({ display_name: "changed" }),
  deleteProvider: ofProvider(),
  testProvider: ofProvider({}),
} satisfies Partial<Record<RouteName, WalkCase>>;

const item = ({ label, key }: World) => ({ namespace: [label], key });

const memory = {
  getStoreItem: walk({ "query.namespace[]": noItem, "query.key": noItem }, (world) => ({ query: item(world) })),
  putStoreItem: walk({ "body.namespace[]": "own", "body.key": "own" }, (world) => ({
    body: { ...item(world), value: { new: true } },
  })),
  deleteStoreItem: walk({ "query.namespace[]": noItem, "query.key": noItem }, (world) => ({ query: item(world) })),
  searchStore: walk({ "body.namespace_prefix[]": "nothing", "body.query": "own" }, ({ label, mark }) => ({
    body: { namespace_prefix: [label], query: mark },
  })),
  listNamespaces: walk({ "body.prefix[]": "nothing", "body.suffix[]": "nothing" }, ({ label }) => ({
    body: { prefix: [label], suffix: [label] },
  })),
} satisfies Partial<Record<RouteName, WalkCase>>;

function ofUser(more: Parts = {}): WalkCase {
  return walk({ "path.user_id": notHis }, ({ user_id }) => ({ path: { user_id }, ...more }));
}

function ofTask(body?: (world: World) => object, foreign: Record<string, Outcome> = {}): WalkCase {
  return walk({ "path.id": noTask, ...foreign }, (world) => ({
    path: { id: world.task_id },
    ...(body && { body: body(world) }),
  }));
}

function ofChat(chat: Outcome, more: Parts = {}): WalkCase {
  return walk({ "path.user_id": notHis, "path.chat_id": chat }, ({ user_id, chat_id }) => ({
    path: { user_id, chat_id },
    ...more,
  }));
}

const people = {
  getProfile: ofUser(),
  replaceProfile: ofUser({ body: { goals: ["new"] } }),
  updateProfile: ofUser({ body: { goals: ["new"] } }),
  startTask: walk(
    { "body.user_id": notHis, "body.conversation_id": "404 conversation_not_found" },
    ({ user_id, conversation_id }) => ({ body: { query: "next", user_id, conversation_id } }),
  ),
  getTask: ofTask(),
  continueTask: ofTask(({ user_id }) => ({ user_id }), { "body.user_id": notHis }),
  addTaskMessage: ofTask(() => ({ role: "user", content: "more" })),
  updateTaskWorkspace: ofTask(() => ({ objective: "changed" })),
  completeTask: ofTask(() => ({})),
  putChat: ofChat("own", { body: {} }),
  getChat: ofChat(noChat),
  deleteChat: ofChat(noChat),
  clearChat: ofChat(noChat, { body: {} }),
  listChatMessages: ofChat("nothing"),
} satisfies Partial<Record<RouteName, WalkCase>>;

export const CONTENT_CASES = { ...artifacts, ...agents, ...providers, ...memory, ...people };
