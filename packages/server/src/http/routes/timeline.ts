import type { Scope, Session } from "@cognition/contract";
import { AppError } from "@cognition/contract";
import type { Storage } from "@cognition/thread";
import { makeOnce } from "../../session/make-once.ts";
import type { Timeline } from "../../timeline/timeline.ts";
import type { Handlers } from "../handler.ts";

export interface TimelineRoutes {
  readonly storage: Pick<Storage, "getSession">;
  readonly timeline: Timeline;
}

type Names = "listCheckpoints" | "getCheckpoint" | "diffCheckpoint" | "forkSession" | "rewindSession";

export function timelineRoutes({ storage, timeline }: TimelineRoutes): Pick<Handlers, Names> {
  async function find(session_id: string, scope: Scope | undefined): Promise<Session> {
    const session = await storage.getSession(session_id, scope);
    if (session) return session;
    throw new AppError("session_not_found", `There is no session ${session_id}`);
  }

  return {
    listCheckpoints: async ({ params, query, scope }) => timeline.list(await find(params.id, scope), query),
    getCheckpoint: async ({ params, scope }) => timeline.get(await find(params.id, scope), params.cid),
    diffCheckpoint: async ({ params, query, scope }) =>
      timeline.diff(await find(params.id, scope), params.cid, query.to),
    forkSession: async ({ params, body, scope, key_id }) => {
      const parent = await find(params.id, scope);
      return makeOnce(
        key_id,
        () => timeline.fork(parent, body, key_id),
        async (id) => timeline.finishFork(await find(id, scope)),
      );
    },
    rewindSession: async ({ params, body, scope }) => timeline.rewind(await find(params.id, scope), body),
  };
}
