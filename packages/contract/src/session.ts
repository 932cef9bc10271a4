import { z } from "zod";
import { Id, idempotent, Uuid } from "./id.ts";
import { StringMap } from "./json.ts";
import { MAX_NAME_LENGTH, MAX_PATH_LENGTH, MAX_TITLE_LENGTH } from "./limits.ts";
import { gatherMetadata, Metadata } from "./metadata.ts";
import { pageInfo, paging } from "./page.ts";
import { SessionConfig, SessionConfigPatch } from "./session-config.ts";
import { text } from "./text.ts";
import { Timestamp } from "./time.ts";

export const SessionStatus = z.enum(["active", "inactive", "error", "waiting_for_approval"]);
export type SessionStatus = z.infer<typeof SessionStatus>;

export const SessionMode = z.enum(["auto", "plan"]);
export type SessionMode = z.infer<typeof SessionMode>;

export const DEFAULT_AGENT_NAME = "default";
const Title = text("title", MAX_TITLE_LENGTH).nullable();
const AgentRef = text("agent_name", MAX_NAME_LENGTH, 1);

export const SessionParent = z.strictObject({ session_id: z.string(), checkpoint_id: z.string() });
export type SessionParent = z.infer<typeof SessionParent>;

export const Session = z.strictObject({
  id: Uuid,
  thread_id: Uuid,
  title: z.string().nullable(),
  status: SessionStatus,
  agent_name: z.string(),
  config: SessionConfig,
  scopes: StringMap,
  metadata: StringMap,
  mode: SessionMode,
  message_count: z.int().nonnegative(),
  /** Null for a session of the library that has no folder; the server gives each one. */
  workspace_path: z.string().nullable(),
  storage_bytes: z.int().nonnegative(),
  active_run_id: z.string().nullable(),
  parent: SessionParent.nullable(),
  created_at: Timestamp,
  updated_at: Timestamp,
});
export type Session = z.infer<typeof Session>;

export const CreateSession = z.strictObject({
  title: Title.default(null),
  agent_name: AgentRef.default(DEFAULT_AGENT_NAME),
  metadata: Metadata.prefault({}),
  config: SessionConfig.default({}),
  mode: SessionMode.default("auto"),
  workspace_path: text("workspace_path", MAX_PATH_LENGTH, 1).optional(),
  ...idempotent,
});
export type CreateSession = z.infer<typeof CreateSession>;
export type CreateSessionInput = z.input<typeof CreateSession>;

/** `config` is merged, `metadata` replaces. Only a caller's statuses: the others follow from runs. */
export const UpdateSession = z.strictObject({
  title: Title.optional(),
  agent_name: AgentRef.optional(),
  config: SessionConfigPatch.optional(),
  metadata: Metadata.optional(),
  mode: SessionMode.optional(),
  status: z.enum(["active", "inactive"]).optional(),
});
export type UpdateSession = z.infer<typeof UpdateSession>;

export const SessionFilter = z.strictObject({
  metadata: Metadata.optional(),
  status: SessionStatus.optional(),
  ...paging,
});

/** Takes the query as sent, with `metadata.<key>` parameters; every predicate must match. */
export const ListSessions = z.preprocess(gatherMetadata, SessionFilter);
export type ListSessions = z.infer<typeof ListSessions>;
export type ListSessionsInput = z.input<typeof SessionFilter>;

export const SessionPage = z.strictObject({ sessions: z.array(Session), ...pageInfo });
export type SessionPage = z.infer<typeof SessionPage>;

export const AbortSession = z.strictObject({ run_id: Id.optional(), ...idempotent });
export type AbortSession = z.infer<typeof AbortSession>;

export const AbortResult = z.strictObject({
  success: z.literal(true),
  message: z.string(),
  aborted: z.array(z.string()),
});
export type AbortResult = z.infer<typeof AbortResult>;
