import {
  AppError,
  type Checkpoint,
  type CheckpointDiff,
  type CheckpointPage,
  type CheckpointState,
  type ForkSession,
  isAppError,
  type ListCheckpoints,
  type Message,
  type RewindResult,
  type RewindSession,
  type Session,
} from "@cognition/contract";
import { EMPTY_TREE, type Storage, type TimelineEntry, type ToolCallRecord } from "@cognition/thread";
import type { AgentRegistry } from "../agent/agent-registry.ts";
import { makeFolder, presentSession } from "../session/workspace-folder.ts";
import { readState } from "./checkpoint-state.ts";
import { viewCheckpoint } from "./checkpoint-view.ts";
import { entryAt, findPlace } from "./find-place.ts";
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
  messagesAt(session_id: string, checkpoint_id: string): Promise<Message[]>;
}

export function createTimeline({ storage, workspaces, agents, workspace_root: root }: TimelineOptions): Timeline {
  async function takeAlong(session: Session, fork: Session, files: boolean): Promise<void> {
    await makeFolder(storage, root, fork);
    if (files) await workspaces.cloneFrom(session, fork);
  }

  /** Whoever is told that there is no fork must not find one. */
  async function undo(fork: Session): Promise<void> {
    await storage.deleteSession(fork.id);
    await workspaces.remove(fork);
  }

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
      const { snapshot_id } = await entryAt(storage, session, checkpoint_id);
      const other =
        to === undefined ? await workspaces.look(session) : (await entryAt(storage, session, to)).snapshot_id;
      const files = await workspaces.diff(session.scopes, snapshot_id ?? EMPTY_TREE, other ?? EMPTY_TREE);
      return { from: checkpoint_id, to: to ?? null, files };
    },
    fork: async (session, { checkpoint_id, message_id, title, agent_name, files }, id) => {
      if (agent_name !== undefined) await agents.findForSession(agent_name, session.scopes);
      const place = await findPlace(storage, session, { checkpoint_id, message_id });
      const fork = await storage.timeline.forkSession({
        session_id: session.id,
        files,
        ...(id === undefined ? {} : { id }),
        ...(place?.checkpoint_id ? { checkpoint_id: place.checkpoint_id } : {}),
        ...(title === undefined ? {} : { title }),
        ...(agent_name === undefined ? {} : { agent_name }),
      });
      await takeAlong(session, fork, files).catch(async (error: Error) => {
        await undo(fork).catch((undoing: Error) => {
          throw stillThere(fork, error, undoing);
        });
        throw error;
      });
      return presentSession(root, fork);
    },
    finishFork: async (fork) => {
      await makeFolder(storage, root, fork);
      await workspaces.settle(fork, false);
      return presentSession(root, fork);
    },
    rewind: (session, body) => rewind({ storage, workspaces }, session, body),
    messagesAt: (session_id, checkpoint_id) => storage.timeline.messagesAt(session_id, checkpoint_id),
  };
}

/** Not the first error itself: that would say that nothing was done. */
function stillThere({ id }: Session, error: Error, undoing: Error): AppError {
  const why = isAppError(error) ? error.message : "The fork failed.";
  const message = `${why} It could not be taken back either: see that session ${id} and its folder are gone.`;
  return new AppError("internal", message, {
    cause: new AggregateError([error, undoing]),
    details: { session_id: id },
  });
}
