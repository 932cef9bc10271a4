import { AppError, type ForkSession, isAppError, type Session } from "@cognition/contract";
import type { Fork } from "@cognition/thread";
import { AWAY } from "../run/not-the-runs.ts";
import { makeFolder, presentSession } from "../session/workspace-folder.ts";
import { filesAt, findHead, findPlace, type Place } from "./find-place.ts";
import type { Timeline, TimelineOptions } from "./timeline.ts";
import { modeAfter } from "./undone-plan.ts";
import type { LookedAt } from "./workspace/workspaces.ts";

export interface Forks {
  fork: Timeline["fork"];
  finish: Timeline["finishFork"];
}

type Beginning = Pick<Fork, "checkpoint_id" | "snapshot_id" | "objects" | "mode">;

export function createForks({ storage, workspaces, agents, workspace_root: root }: TimelineOptions): Forks {
  /** Where a fork begins; one that names no point, with what people have done to the files since the head. */
  async function beginningOf(session: Session, { checkpoint_id, message_id, files }: ForkSession): Promise<Beginning> {
    const place = await findPlace(storage, session, { checkpoint_id, message_id });
    if (!place?.checkpoint_id) return {};
    const isOfNow = checkpoint_id === undefined && message_id === undefined;
    const now = files && isOfNow ? await filesNow(session, place) : undefined;
    if (files && !now)
      await filesAt(storage, session, place, "No fork was made; send files: false to go on there without them.");
    const head = isOfNow ? undefined : await findHead(storage, session);
    return {
      checkpoint_id: place.checkpoint_id,
      ...(now && { snapshot_id: now.tree, objects: now.objects }),
      ...(await modeAfter(storage, session, head?.checkpoint_id, place.checkpoint_id)),
    };
  }

  /** Not while a run is at work on them, nor if one was meanwhile. */
  async function filesNow(session: Session, head: Place): Promise<LookedAt | undefined> {
    if (session.active_run_id !== null) return undefined;
    const files = await workspaces.look(session).catch((error: unknown) => {
      throw isAppError(error) ? notStored(error) : error;
    });
    const [now, after] = [await storage.getSession(session.id), await findHead(storage, session)];
    return now?.active_run_id === null && after?.checkpoint_id === head.checkpoint_id ? files : undefined;
  }

  async function takeAlong(session: Session, fork: Session, files: boolean): Promise<void> {
    await makeFolder(storage, root, fork);
    if (files) await workspaces.cloneFrom(session, fork);
  }

  /** Whoever is told that there is no fork must not find one. */
  async function undo(fork: Session): Promise<void> {
    await storage.deleteSession(fork.id);
    await workspaces.remove(fork);
  }

  return {
    fork: async (session, body, id) => {
      const { title, agent_name, files } = body;
      if (agent_name !== undefined) await agents.findForSession(agent_name, session.scopes);
      const fork = await storage.timeline.forkSession({
        session_id: session.id,
        files,
        ...(await beginningOf(session, body)),
        ...(id === undefined ? {} : { id }),
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
    finish: async (fork) => {
      await makeFolder(storage, root, fork);
      await workspaces.settle(fork, false);
      return presentSession(root, fork);
    },
  };
}

function notStored(cause: AppError): AppError {
  const message = `${cause.message} No fork was made: name the checkpoint_id whose files it is to have, or give files: false.`;
  return new AppError(cause.code, message, { cause, details: cause.details });
}

/** Not the first error itself: that would say that nothing was done. */
function stillThere({ id }: Session, error: Error, undoing: Error): AppError {
  const about = { cause: new AggregateError([error, undoing]), details: { session_id: id } };
  if (isAppError(error, ...AWAY)) {
    const message = `${error.message} Session ${id} was made before: the same request under its idempotency key goes on with it.`;
    return new AppError("storage_unavailable", message, about);
  }
  const why = isAppError(error) ? error.message : "The fork failed.";
  const message = `${why} It could not be taken back either: see that session ${id} and its folder are gone.`;
  return new AppError("internal", message, about);
}
