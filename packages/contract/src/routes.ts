import { z } from "zod";
import { Agent, AgentPage, CreateAgent, ListAgents, ReplaceAgent, UpdateAgent } from "./agent.ts";
import { ApprovalPage, ListApprovals, ResumeSession } from "./approval.ts";
import * as artifact from "./artifact.ts";
import { Chat, ChatMessagePage, ListChatMessages, PutChat } from "./chat.ts";
import * as checkpoint from "./checkpoint.ts";
import { Delivery, DeliveryPage, ListDeliveries } from "./delivery.ts";
import { EventPage, ListEvents } from "./event.ts";
import { FileList, ListFiles } from "./file.ts";
import { Health, Readiness } from "./health.ts";
import { EmptyBody, Id } from "./id.ts";
import { JsonObject } from "./json.ts";
import { MAX_PATH_LENGTH } from "./limits.ts";
import { ListMessages, Message, MessagePage, RebuildResult, SendMessage } from "./message.ts";
import * as model from "./model.ts";
import { PageQuery } from "./page.ts";
import { Profile, ReplaceProfile, UpdateProfile, UserId } from "./profile.ts";
import { del, get, patch, post, put, type Route } from "./route.ts";
import { ListRuns, Run, RunPage } from "./run.ts";
import {
  AbortResult,
  AbortSession,
  CreateSession,
  ListSessions,
  Session,
  SessionPage,
  UpdateSession,
} from "./session.ts";
import * as store from "./store.ts";
import * as task from "./task.ts";
import { text } from "./text.ts";
import { SkillPage, ToolPage } from "./tool.ts";
import { BudgetList, GetUsage, PutBudgets, Usage } from "./usage.ts";

const byId = z.strictObject({ id: Id });
const byName = z.strictObject({ name: Id });
const byUser = z.strictObject({ user_id: UserId });
const ofMessage = z.strictObject({ id: Id, message_id: Id });
const ofRun = z.strictObject({ id: Id, run_id: Id });
const ofCheckpoint = z.strictObject({ id: Id, cid: Id });
const ofFile = z.strictObject({ id: Id, path: text("path", MAX_PATH_LENGTH, 1) });
const ofVersion = z.strictObject({ id: Id, n: artifact.ArtifactVersion });
const ofChat = z.strictObject({ user_id: UserId, chat_id: Id });

const access = artifact.ArtifactAccess;

const sessions = {
  createSession: post("/sessions", "Creates a session", { status: 201, body: CreateSession, response: Session }),
  listSessions: get("/sessions", "Lists sessions, newest first", { query: ListSessions, response: SessionPage }),
  getSession: get("/sessions/{id}", "Reads a session", { params: byId, response: Session }),
  updateSession: patch("/sessions/{id}", "Changes a session", { params: byId, body: UpdateSession, response: Session }),
  deleteSession: del("/sessions/{id}", "Deletes a session and all that belongs to it", { params: byId }),
  abortSession: post("/sessions/{id}/abort", "Stops what runs or waits in a session", {
    params: byId,
    body: AbortSession,
    response: AbortResult,
  }),
  resumeSession: post("/sessions/{id}/resume", "Answers approvals, or continues after a failure or an abort", {
    params: byId,
    body: ResumeSession,
    response: Run,
    media: ["json", "stream"],
    async: true,
  }),
  listApprovals: get("/approvals", "Lists what waits for a human", { query: ListApprovals, response: ApprovalPage }),
  listFiles: get("/sessions/{id}/files", "Lists a session's workspace, or downloads it as an archive", {
    params: byId,
    query: ListFiles,
    response: FileList,
    media: ["json", "bytes"],
  }),
  getFile: get("/sessions/{id}/files/{path}", "Reads a file of the workspace", { params: ofFile, media: ["bytes"] }),
  putFile: put("/sessions/{id}/files/{path}", "Writes a file of the workspace", { params: ofFile, body: "bytes" }),
  deleteFile: del("/sessions/{id}/files/{path}", "Deletes a file of the workspace, or a folder and all that is in it", {
    params: ofFile,
  }),
};

const messages = {
  sendMessage: post("/sessions/{id}/messages", "Sends a message and streams the run that answers it", {
    params: byId,
    body: SendMessage,
    response: Run,
    media: ["stream", "json"],
    async: true,
  }),
  listMessages: get("/sessions/{id}/messages", "Lists messages, newest first unless asked otherwise", {
    params: byId,
    query: ListMessages,
    response: MessagePage,
  }),
  getMessage: get("/sessions/{id}/messages/{message_id}", "Reads a message", { params: ofMessage, response: Message }),
  rebuildMessages: post("/sessions/{id}/messages/rebuild", "Rebuilds the messages from the checkpoint", {
    params: byId,
    body: EmptyBody,
    response: RebuildResult,
  }),
  listRuns: get("/sessions/{id}/runs", "Lists runs, newest first", {
    params: byId,
    query: ListRuns,
    response: RunPage,
  }),
  getRun: get("/sessions/{id}/runs/{run_id}", "Reads a run", { params: ofRun, response: Run }),
  listEvents: get("/sessions/{id}/events", "Follows a session's log, or reads it as JSON", {
    params: byId,
    query: ListEvents,
    response: EventPage,
    media: ["json", "stream"],
  }),
  listRunEvents: get("/sessions/{id}/runs/{run_id}/events", "Follows one run to its end; 204 once it has ended", {
    params: ofRun,
    query: ListEvents,
    media: ["stream"],
  }),
};

const deliveries = {
  listDeliveries: get("/deliveries", "Lists callbacks", { query: ListDeliveries, response: DeliveryPage }),
  getDelivery: get("/deliveries/{id}", "Reads a callback and its attempts", { params: byId, response: Delivery }),
  redeliver: post("/deliveries/{id}/redeliver", "Sends a callback again", {
    params: byId,
    status: 202,
    body: EmptyBody,
    response: Delivery,
  }),
};

const timeline = {
  listCheckpoints: get("/sessions/{id}/checkpoints", "Lists the tree of checkpoints, newest first", {
    params: byId,
    query: checkpoint.ListCheckpoints,
    response: checkpoint.CheckpointPage,
  }),
  getCheckpoint: get("/sessions/{id}/checkpoints/{cid}", "Reads a checkpoint with its full state", {
    params: ofCheckpoint,
    response: checkpoint.CheckpointState,
  }),
  diffCheckpoint: get("/sessions/{id}/checkpoints/{cid}/diff", "Compares the files of two checkpoints", {
    params: ofCheckpoint,
    query: checkpoint.DiffCheckpoint,
    response: checkpoint.CheckpointDiff,
  }),
  forkSession: post("/sessions/{id}/fork", "Starts a new session from a point of this one", {
    params: byId,
    status: 201,
    body: checkpoint.ForkSession,
    response: Session,
  }),
  rewindSession: post("/sessions/{id}/rewind", "Puts a session back to an earlier point", {
    params: byId,
    body: checkpoint.RewindSession,
    response: checkpoint.RewindResult,
  }),
};

const artifacts = {
  listArtifacts: get("/artifacts", "Lists artifacts", {
    query: artifact.ListArtifacts,
    response: artifact.ArtifactPage,
  }),
  createArtifact: post("/artifacts", "Creates an artifact", {
    status: 201,
    body: artifact.CreateArtifact,
    response: artifact.Artifact,
  }),
  getArtifact: get("/artifacts/{id}", "Reads an artifact", {
    params: byId,
    query: access,
    response: artifact.Artifact,
  }),
  updateArtifact: put("/artifacts/{id}", "Writes an artifact; a new version if the content changed", {
    params: byId,
    query: access,
    body: artifact.UpdateArtifact,
    response: artifact.Artifact,
  }),
  deleteArtifact: del("/artifacts/{id}", "Deletes an artifact and its versions", { params: byId, query: access }),
  getArtifactContent: get("/artifacts/{id}/content", "Reads the content as it is", {
    params: byId,
    query: access,
    media: ["bytes"],
  }),
  listArtifactVersions: get("/artifacts/{id}/versions", "Lists an artifact's versions, newest first", {
    params: byId,
    query: artifact.ListArtifactVersions,
    response: artifact.ArtifactVersionPage,
  }),
  getArtifactVersion: get("/artifacts/{id}/versions/{n}", "Reads one version", {
    params: ofVersion,
    query: access,
    response: artifact.Artifact,
  }),
  diffArtifact: get("/artifacts/{id}/diff", "Compares two versions", {
    params: byId,
    query: artifact.DiffArtifact,
    response: artifact.ArtifactDiff,
  }),
};

const registry = {
  listAgents: get("/agents", "Lists agents", { query: ListAgents, response: AgentPage }),
  createAgent: post("/agents", "Creates an agent", { status: 201, body: CreateAgent, response: Agent }),
  getAgent: get("/agents/{name}", "Reads an agent", { params: byName, response: Agent }),
  replaceAgent: put("/agents/{name}", "Writes an agent's definition", {
    params: byName,
    body: ReplaceAgent,
    response: Agent,
  }),
  updateAgent: patch("/agents/{name}", "Changes an agent", { params: byName, body: UpdateAgent, response: Agent }),
  deleteAgent: del("/agents/{name}", "Deletes an agent", { params: byName }),
  listSkills: get("/skills", "Lists skills", { query: PageQuery, response: SkillPage }),
  listTools: get("/tools", "Lists tools", { query: PageQuery, response: ToolPage }),
  listModels: get("/models", "Lists models", { query: model.ListModels, response: model.ModelPage }),
  listProviders: get("/models/providers", "Lists model providers, first choice first", {
    query: model.ListProviders,
    response: model.ProviderPage,
  }),
  createProvider: post("/models/providers", "Adds a model provider", {
    status: 201,
    body: model.CreateProvider,
    response: model.Provider,
  }),
  getProvider: get("/models/providers/{id}", "Reads a model provider", { params: byId, response: model.Provider }),
  updateProvider: patch("/models/providers/{id}", "Changes a model provider", {
    params: byId,
    body: model.UpdateProvider,
    response: model.Provider,
  }),
  deleteProvider: del("/models/providers/{id}", "Removes a model provider", { params: byId }),
  testProvider: post("/models/providers/{id}/test", "Makes a small call to see whether a provider answers", {
    params: byId,
    body: EmptyBody,
    response: model.ProviderTest,
  }),
};

const memory = {
  getStoreItem: get("/store/items", "Reads an item", { query: store.StoreItemRef, response: store.StoreItem }),
  putStoreItem: put("/store/items", "Writes an item", { body: store.PutStoreItem, response: store.StoreItem }),
  deleteStoreItem: del("/store/items", "Deletes an item", { query: store.StoreItemRef }),
  searchStore: post("/store/search", "Searches items under a namespace", {
    body: store.SearchStore,
    response: store.StoreItemPage,
  }),
  listNamespaces: post("/store/namespaces", "Lists namespaces", {
    body: store.ListNamespaces,
    response: store.NamespacePage,
  }),
  getProfile: get("/profiles/{user_id}", "Reads a user's profile", { params: byUser, response: Profile }),
  replaceProfile: put("/profiles/{user_id}", "Writes a user's profile", {
    params: byUser,
    body: ReplaceProfile,
    response: Profile,
  }),
  updateProfile: patch("/profiles/{user_id}", "Changes a user's profile", {
    params: byUser,
    body: UpdateProfile,
    response: Profile,
  }),
};

const tasks = {
  startTask: post("/tasks", "Starts a task", { status: 201, body: task.StartTask, response: task.Task }),
  getTask: get("/tasks/{id}", "Reads a task", { params: byId, response: task.Task }),
  continueTask: post("/tasks/{id}/continue", "Takes a task up again", {
    params: byId,
    body: task.ContinueTask,
    response: task.Task,
  }),
  addTaskMessage: post("/tasks/{id}/messages", "Adds a message to the task's conversation", {
    params: byId,
    status: 201,
    body: task.AddTaskMessage,
    response: task.Task,
  }),
  updateTaskWorkspace: patch("/tasks/{id}/workspace", "Changes the task's working memory", {
    params: byId,
    body: task.UpdateTaskWorkspace,
    response: task.Task,
  }),
  completeTask: post("/tasks/{id}/complete", "Ends a task: its workspace goes, the conversation stays", {
    params: byId,
    body: EmptyBody,
    response: task.CompletedTask,
  }),
};

const chats = {
  putChat: put("/chats/{user_id}/{chat_id}", "Gets a chat, or creates it", {
    params: ofChat,
    body: PutChat,
    response: Chat,
  }),
  getChat: get("/chats/{user_id}/{chat_id}", "Reads a chat", { params: ofChat, response: Chat }),
  deleteChat: del("/chats/{user_id}/{chat_id}", "Deactivates a chat", { params: ofChat }),
  clearChat: post("/chats/{user_id}/{chat_id}/clear", "Lets the next message start a fresh conversation", {
    params: ofChat,
    body: EmptyBody,
    response: Chat,
  }),
  listChatMessages: get("/chats/{user_id}/{chat_id}/messages", "Lists what was said in a chat, oldest first", {
    params: ofChat,
    query: ListChatMessages,
    response: ChatMessagePage,
  }),
};

const operations = {
  getUsage: get("/usage", "Counts tokens and cost", { query: GetUsage, response: Usage }),
  getBudgets: get("/budgets", "Reads limits and what is left", { response: BudgetList }),
  putBudgets: put("/budgets", "Writes limits", { body: PutBudgets, response: BudgetList }),
  getHealth: get("/health", "Tells how the server is", { response: Health }),
  getReadiness: get("/ready", "200 when this node takes requests, else 503", { response: Readiness }),
  getMetrics: get("/metrics", "Metrics for Prometheus", { media: ["text"] }),
  getOpenApi: get("/openapi.json", "This API as OpenAPI 3.1", { response: JsonObject }),
  getDocs: get("/docs", "This API as a page", { media: ["html"] }),
};

/** Every route by its operation's name. */
export const ROUTES = {
  ...sessions,
  ...messages,
  ...deliveries,
  ...timeline,
  ...artifacts,
  ...registry,
  ...memory,
  ...tasks,
  ...chats,
  ...operations,
} satisfies Record<string, Route>;

export type RouteName = keyof typeof ROUTES;
