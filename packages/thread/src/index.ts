export type {
  ApiKey,
  Artifact,
  ArtifactDiff,
  ArtifactSummary,
  ArtifactType,
  ArtifactVisibility,
  Budget,
  BudgetLimit,
  Chat,
  ChatMessage,
  CompletedTask,
  Conversation,
  Delivery,
  Interrupt,
  Message,
  Profile,
  Run,
  Scope,
  Session,
  SessionConfig,
  StoredEvent,
  TaskExecution,
  TaskWorkspace,
  Usage,
} from "@cognition/contract";
export { AppError, isAppError } from "@cognition/contract";
export type * from "./api-key-store.ts";
export type * from "./artifact-store.ts";
export type * from "./breaker-store.ts";
export type * from "./budget-store.ts";
export { type ChatBackend, type ChatStoreOptions, createChatStore, registerChatBackend } from "./chat/chat-backends.ts";
export { parseChat, parseChatChange, parseChatMessage } from "./chat/chat-input.ts";
export type * from "./chat/chat-session-store.ts";
export { createMemorySessionStore, type MemorySessionStoreOptions } from "./chat/memory-session-store.ts";
export {
  createSessionManager,
  type SessionManager,
  type SessionManagerOptions,
  type SessionResult,
} from "./chat/session-manager.ts";
export { createSqlSessionStore, type SqlSessionStoreOptions } from "./chat/sql-session-store.ts";
export { type ImportOptions, type ImportReport, importThreads } from "./checkpoint/import-threads.ts";
export { LEASE, type ProjectionRepair, type WriterLease } from "./checkpoint/lease.ts";
export { deserialize, StrictSerializer, serialize } from "./checkpoint/serializer.ts";
export type * from "./checkpoint-saver.ts";
export type * from "./definition-store.ts";
export type * from "./delivery-store.ts";
export type * from "./event-log.ts";
export type * from "./idempotency-store.ts";
export type * from "./memory-store.ts";
export type * from "./message-store.ts";
export { type OpenStorageOptions, openStorage } from "./open-storage.ts";
export type * from "./rate-limit-store.ts";
export type * from "./run-store.ts";
export type * from "./session-store.ts";
export { decodeTree } from "./snapshot/decode-tree.ts";
export {
  EMPTY_TREE,
  type EntryType,
  encodeTree,
  encodeTreeChange,
  hashBlob,
  hashTree,
  sortEntries,
  type TreeChange,
  type TreeEntry,
} from "./snapshot/tree.ts";
export type * from "./snapshot-store.ts";
export { backupSqlite, type SqliteBackupOptions } from "./sql/sqlite-backup.ts";
export { unifiedDiff } from "./sql/unified-diff.ts";
export { readStopReason } from "./stop-reason.ts";
export type * from "./storage.ts";
export { type StorageTarget, storageTarget } from "./storage-target.ts";
export { type ContextOptions, contextText } from "./task/context-text.ts";
export type { ProfileData, StoredProfile } from "./task/profile-data.ts";
export { type SessionContext, sessionContext } from "./task/session-context.ts";
export type { State } from "./task/state.ts";
export type * from "./task/task-store.ts";
export { createTasks, type Tasks } from "./task/tasks.ts";
export { estimateTokens } from "./task/token-estimate.ts";
export { workspaceChanges } from "./task/workspace-changes.ts";
export type { WorkspaceData } from "./task/workspace-data.ts";
export type * from "./timeline-store.ts";
export { CALL_EVENTS, type ToldCall, type ToldResult, toldCalls } from "./told-calls.ts";
export type * from "./tool-journal.ts";
export type * from "./usage-store.ts";
