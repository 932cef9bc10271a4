import type {
  Checkpoint,
  CheckpointDiff,
  CheckpointPage,
  CheckpointState,
  ForkSession,
  ListCheckpoints,
  RewindResult,
  RewindSession,
  Session,
} from "@cognition/contract";
import type { Storage, TimelineEntry, ToolCallRecord } from "@cognition/thread";
import type { AgentRegistry } from "../agent/agent-registry.ts";
import { readState } from "./checkpoint-state.ts";
import { viewCheckpoint } from "./checkpoint-view.ts";
import { entryAt, filesAt } from "./find-place.ts";
import { createForks } from "./fork.ts";
import { rewind } from "./rewind.ts";
import type { Workspaces } from "./workspace/workspaces.ts";

export interface TimelineOptions {
  storage: Storage;
  workspaces: Workspaces;
  agents: Pick<AgentRegistry, "findForSession">;
  /** Where sessions have their folders. */
  workspace_root: string;
}

/** What happened in a session, and the ways back. Sessions are those of the storage: whoever calls has checked the scope. */
export interface Timeline {
  list(session: Session, page: ListCheckpoints): Promise<CheckpointPage>;
  get(session: Session, checkpoint_id: string): Promise<CheckpointState>;
  /** Without `to`, against the files as they are now. */
  diff(session: Session, checkpoint_id: string, to?: string): Promise<CheckpointDiff>;
  /** With an id, the new session's; one that is there already rejects with `already_exists`. */
  fork(session: Session, body: ForkSession, id?: string): Promise<Session>;
  /** A fork whose node may have died before its folder was ready. */
  finishFork(fork: Session): Promise<Session>;
  rewind(session: Session, body: RewindSession): Promise<RewindResult>;
}

export function createTimeline({ storage, workspaces, agents, workspace_root }: TimelineOptions): Timeline {
  const forks = createForks({ storage, workspaces, agents, workspace_root });

  async function view(session: Session, entries: readonly TimelineEntry[]): Promise<Checkpoint[]> {
    const runs = new Set(entries.flatMap(({ run_id }) => run_id ?? []));
    const calls = new Map<string, ToolCallRecord[]>();
    for (const run_id of runs) calls.set(run_id, await storage.listToolCalls(run_id));
    return entries.map((entry) => viewCheckpoint(session.id, entry, calls.get(entry.run_id ?? "") ?? []));
  }

  return {
    list: async (session, { limit, before }) => {
      if (before !== undefined) await entryAt(storage, session, before);
      const page = { limit: limit + 1, ...(before === undefined ? {} : { before }) };
      const entries = await storage.timeline.readTimeline(session.id, page);
      return { checkpoints: await view(session, entries.slice(0, limit)), has_more: entries.length > limit };
    },
    get: async (session, checkpoint_id) => {
      const [checkpoint] = await view(session, [await entryAt(storage, session, checkpoint_id)]);
      const state = await readState(await storage.getCheckpointer(), session, checkpoint as Checkpoint);
      return {
        ...(checkpoint as Checkpoint),
        ...state,
        messages: await storage.timeline.messagesAt(session.id, checkpoint_id),
      };
    },
    diff: async (session, checkpoint_id, to) => {
      const at = async (id: string) =>
        filesAt(storage, session, await entryAt(storage, session, id), "There is nothing to compare.");
      const from = await at(checkpoint_id);
      const other = to === undefined ? (await workspaces.look(session)).tree : await at(to);
      const files = await workspaces.diff(session.scopes, from, other);
      return { from: checkpoint_id, to: to ?? null, files };
    },
    fork: forks.fork,
    finishFork: forks.finish,
    rewind: (session, body) => rewind({ storage, workspaces }, session, body),
  };
}
