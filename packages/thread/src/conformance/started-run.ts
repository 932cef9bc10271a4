import type { Scope, Session, StoredEvent } from "@cognition/contract";
import type { NewEvent } from "../event-log.ts";
import type { ClaimedRun, RunEnd, RunSession } from "../run-store.ts";
import type { NewSession } from "../session-store.ts";
import type { Storage } from "../storage.ts";

export const LEASE_MS = 60_000;
/** A lease that has run out the moment it is given: the owner counts as dead, with nobody waiting for it. */
export const NO_TIME = 0;

/** With something in all that a run knows of its session. */
export const FULL_SESSION: NewSession = {
  scopes: { user: "ann" },
  agent_name: "reader",
  config: { temperature: 0.5 },
  metadata: { note: "n" },
  mode: "plan",
  workspace_path: "folder",
};

export function runSessionOf(session: Session): RunSession {
  const { id, thread_id, agent_name, config, scopes, metadata, mode, workspace_path } = session;
  return { id, thread_id, agent_name, config, scopes, metadata, mode, workspace_path, has_task: false };
}

export interface StartedRun {
  session_id: string;
  lease: ClaimedRun;
}

/** A new session with one run, claimed. */
export async function startRun(storage: Storage, scopes: Scope = {}): Promise<StartedRun> {
  const { id: session_id } = await storage.createSession({ scopes });
  await storage.createRun({ session_id });
  return { session_id, lease: await claim(storage, { session_id }) };
}

export async function claim(
  storage: Storage,
  { session_id, lease_ms = LEASE_MS }: { session_id?: string; lease_ms?: number } = {},
): Promise<ClaimedRun> {
  const lease = await storage.claimRun({ owner: "worker", lease_ms, ...(session_id !== undefined && { session_id }) });
  if (!lease) throw new Error("there was a run to claim, and no run was given");
  return lease;
}

export function token(content: string, message_id = "m", ordinal?: number): NewEvent {
  return { event: "token", data: { content, message_id }, ...(ordinal !== undefined && { ordinal }) };
}

export function endOf(status: RunEnd["status"], ...before: NewEvent[]): RunEnd {
  const done: NewEvent = { event: "done", data: { status, assistant_data: null, message_id: null } };
  return { status, events: [...before, done] };
}

export async function readAll(storage: Storage, session_id: string): Promise<StoredEvent[]> {
  const events: StoredEvent[] = [];
  for (;;) {
    const page = await storage.readEvents({ session_id, after: events.at(-1)?.id ?? 0 });
    events.push(...page.events);
    if (!page.has_more) return events;
  }
}

export function idsOf(events: readonly StoredEvent[]): number[] {
  return events.map(({ id }) => id);
}

/** 1, 2, 3 … */
export function upTo(count: number): number[] {
  return Array.from({ length: count }, (_, index) => index + 1);
}
