import type { Scope, Session } from "@cognition/contract";
import type { Storage } from "@cognition/thread";
import { makeOnce } from "../../session/make-once.ts";
import { whileThere } from "../../session/while-there.ts";
import type { Timeline } from "../../timeline/timeline.ts";
import type { Handlers } from "../handler.ts";

export interface TimelineRoutes {
  readonly storage: Pick<Storage, "getSession">;
  readonly timeline: Timeline;
}

type Names = "listCheckpoints" | "getCheckpoint" | "diffCheckpoint" | "forkSession" | "rewindSession";

export function timelineRoutes({ storage, timeline }: TimelineRoutes): Pick<Handlers, Names> {
  type Asked = { params: { id: string }; scope: Scope | undefined };
  const inSession = <T>({ params, scope }: Asked, work: (session: Session) => Promise<T>) =>
    whileThere(storage, params.id, scope, work);

  return {
    listCheckpoints: (asked) => inSession(asked, (session) => timeline.list(session, asked.query)),
    getCheckpoint: (asked) => inSession(asked, (session) => timeline.get(session, asked.params.cid)),
    diffCheckpoint: (asked) => inSession(asked, (session) => timeline.diff(session, asked.params.cid, asked.query.to)),
    forkSession: (asked) =>
      inSession(asked, (parent) =>
        makeOnce(
          asked.key_id,
          () => timeline.fork(parent, asked.body, asked.key_id),
          (id) => whileThere(storage, id, asked.scope, timeline.finishFork),
        ),
      ),
    rewindSession: (asked) => inSession(asked, (session) => timeline.rewind(session, asked.body)),
  };
}
