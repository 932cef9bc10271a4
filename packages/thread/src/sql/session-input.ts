import {
  CreateSession,
  Id,
  parseInput,
  Scope,
  type SessionConfigPatch,
  SessionParent,
  SessionStatus,
  ThreadId,
  UpdateSession,
} from "@cognition/contract";
import type { NewSession, SessionPatch } from "../session-store.ts";
import type { Fork } from "../timeline-store.ts";

const WorkspacePath = CreateSession.shape.workspace_path.unwrap().nullable();

/** What HTTP takes, and what only code in the process may say: ids, scopes, where it was forked. */
const NewSessionInput = CreateSession.omit({ idempotency_key: true }).extend({
  id: Id.optional(),
  thread_id: ThreadId.optional(),
  scopes: Scope.default({}),
  workspace_path: WorkspacePath.default(null),
  parent: SessionParent.nullable().default(null),
});

const SessionPatchInput = UpdateSession.extend({
  status: SessionStatus.optional(),
  workspace_path: WorkspacePath.optional(),
});

const ForkInput = NewSessionInput.pick({ id: true, title: true, agent_name: true });

/** What a fork says of the new session is held to what `createSession` takes. */
export function checkFork({ id, title, agent_name }: Fork): void {
  parseInput(ForkInput, { id, title, agent_name }, "fork");
}

export function parseNewSession(session: NewSession) {
  return parseInput(NewSessionInput, session, "session");
}

export function parseSessionPatch(patch: SessionPatch) {
  return parseInput(SessionPatchInput, patch, "patch");
}

/** A key that is null goes, one that is absent stays. */
export function mergeConfig(stored: object, patch: SessionConfigPatch): string {
  const merged = Object.entries({ ...stored, ...patch });
  return JSON.stringify(Object.fromEntries(merged.filter(([, value]) => value !== null && value !== undefined)));
}
