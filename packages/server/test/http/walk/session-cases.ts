import type { RouteName } from "@cognition/contract";
import { ofSession, plain, type WalkCase, walk } from "./case.ts";

const unknownAgent = "422 unknown_agent";
const unknownProvider = "422 unknown_provider";
const noRun = "404 run_not_found";
const noMessage = "404 message_not_found";
const noCheckpoint = "404 checkpoint_not_found";
const noFile = "404 file_not_found";
const notWaiting = "422 validation_failed";
const noDelivery = "404 delivery_not_found";

const sessions = {
  createSession: walk(
    { "body.agent_name": unknownAgent, "body.config.provider_id": unknownProvider },
    ({ agent_name, provider_id, mark }) => ({
      body: { agent_name, title: mark, config: { provider_id, model: "any" } },
    }),
  ),
  listSessions: walk({ "query.cursor": "nothing" }, ({ session_id, mark }) => ({
    query: { cursor: session_id, "metadata.mark": mark },
  })),
  getSession: ofSession(),
  updateSession: ofSession(
    ({ agent_name, provider_id }) => ({ body: { agent_name, config: { provider_id, model: "any" } } }),
    { "body.agent_name": unknownAgent, "body.config.provider_id": unknownProvider },
  ),
  deleteSession: ofSession(),
  abortSession: ofSession(({ run_id }) => ({ body: { run_id } }), { "body.run_id": noRun }),
  resumeSession: ofSession(
    ({ waiting_id: id, interrupt_id }) => ({
      path: { id },
      body: { decisions: [{ id: interrupt_id, type: "approve" }] },
    }),
    {
      "body.decisions[].id": notWaiting,
      "body.decisions[].tool_call_id": notWaiting,
      "body.tool_call_id": notWaiting,
    },
    ({ waiting_id: id, tool_call_id }) => ({ path: { id }, body: { decisions: [{ tool_call_id, type: "approve" }] } }),
    ({ waiting_id: id, tool_call_id }) => ({
      path: { id },
      body: { decision: "approve", tool_call_id, tool_name: "execute" },
    }),
  ),
  listApprovals: walk({ "query.session_id": "nothing" }, ({ waiting_id }) => ({ query: { session_id: waiting_id } })),
  listFiles: ofSession(
    () => ({}),
    {},
    () => ({ query: { archive: "tar" } }),
  ),
  getFile: ofSession(({ file }) => ({ path: { path: file } }), { "path.path": noFile }),
  putFile: ofSession(({ file, mark }) => ({ path: { path: file }, body: mark }), { "path.path": "own" }),
  deleteFile: ofSession(({ file }) => ({ path: { path: file } }), { "path.path": noFile }),
} satisfies Partial<Record<RouteName, WalkCase>>;

const messages = {
  sendMessage: ofSession(({ message_id }) => ({ body: { content: "Hello", parent_id: message_id } }), {
    "body.parent_id": "422 validation_failed",
  }),
  listMessages: ofSession(
    ({ checkpoint_id }) => ({ query: { checkpoint_id } }),
    { "query.checkpoint_id": noCheckpoint, "query.cursor": noMessage },
    ({ message_id }) => ({ query: { cursor: message_id } }),
  ),
  getMessage: ofSession(({ message_id }) => ({ path: { message_id } }), { "path.message_id": noMessage }),
  rebuildMessages: ofSession(() => ({ body: {} })),
  listRuns: ofSession(({ run_id }) => ({ query: { cursor: run_id } }), { "query.cursor": "nothing" }),
  getRun: ofSession(({ run_id }) => ({ path: { run_id } }), { "path.run_id": noRun }),
  listEvents: ofSession(),
  listRunEvents: ofSession(({ run_id }) => ({ path: { run_id }, query: { after: 0 } }), { "path.run_id": noRun }),
} satisfies Partial<Record<RouteName, WalkCase>>;

const timeline = {
  listCheckpoints: ofSession(({ checkpoint_id }) => ({ query: { before: checkpoint_id } }), {
    "query.before": noCheckpoint,
  }),
  getCheckpoint: ofSession(({ checkpoint_id }) => ({ path: { cid: checkpoint_id } }), { "path.cid": noCheckpoint }),
  diffCheckpoint: ofSession(({ checkpoint_id }) => ({ path: { cid: checkpoint_id }, query: { to: checkpoint_id } }), {
    "path.cid": noCheckpoint,
    "query.to": noCheckpoint,
  }),
  forkSession: ofSession(
    ({ checkpoint_id, agent_name }) => ({ body: { checkpoint_id, agent_name } }),
    { "body.checkpoint_id": noCheckpoint, "body.message_id": noMessage, "body.agent_name": unknownAgent },
    ({ message_id }) => ({ body: { message_id } }),
  ),
  rewindSession: ofSession(
    ({ checkpoint_id }) => ({ body: { checkpoint_id, force: true } }),
    { "body.checkpoint_id": noCheckpoint, "body.message_id": noMessage },
    ({ message_id }) => ({ body: { message_id, force: true } }),
  ),
} satisfies Partial<Record<RouteName, WalkCase>>;

const deliveries = {
  listDeliveries: walk(
    { "query.session_id": "nothing", "query.cursor": "nothing" },
    ({ session_id }) => ({ query: { session_id } }),
    ({ delivery_id }) => ({ query: { cursor: delivery_id } }),
  ),
  getDelivery: walk({ "path.id": noDelivery }, ({ delivery_id }) => ({ path: { id: delivery_id } })),
  redeliver: walk({ "path.id": noDelivery }, ({ delivery_id }) => ({ path: { id: delivery_id }, body: {} })),
} satisfies Partial<Record<RouteName, WalkCase>>;

const operations = {
  getUsage: walk({ "query.session_id": "nothing", "query.agent_name": "nothing" }, ({ session_id, agent_name }) => ({
    query: { session_id, agent_name },
  })),
  getBudgets: plain(),
  putBudgets: walk(
    { "body.budgets[].agent_name": unknownAgent, "body.budgets[].session_id": "404 session_not_found" },
    ({ agent_name, session_id }) => ({ body: { budgets: [{ agent_name, session_id, max_tokens: 1_000_000 }] } }),
  ),
  getHealth: plain(),
  getReadiness: plain(),
  getMetrics: plain(),
  getOpenApi: plain(),
  getDocs: plain(),
} satisfies Partial<Record<RouteName, WalkCase>>;

export const SESSION_CASES = { ...sessions, ...messages, ...timeline, ...deliveries, ...operations };
