import { AppError, type Run, type Scope, type StoredEvent } from "@cognition/contract";
import type { Storage } from "@cognition/thread";
import type { Sessions } from "../../session/sessions.ts";
import { acceptsStream } from "../accept.ts";
import { gatherRows } from "../gather-rows.ts";
import type { Handlers } from "../handler.ts";
import type { Streams } from "../streams.ts";
import { cursorPage, uuidCursorOf } from "./page.ts";

export interface RunRoutes {
  readonly storage: Storage;
  readonly sessions: Pick<Sessions, "get">;
  readonly streams: Streams;
}

type Names = "listRuns" | "getRun" | "listEvents" | "listRunEvents";

export function runRoutes({ storage, sessions, streams }: RunRoutes): Pick<Handlers, Names> {
  async function find(session_id: string, run_id: string, scope: Scope | undefined): Promise<Run> {
    const run = await storage.getRun(run_id, scope);
    if (run.session_id === session_id) return run;
    throw new AppError("run_not_found", `There is no run ${run_id} in session ${session_id}`);
  }

  return {
    listRuns: async ({ params, query, scope }) => {
      const before = uuidCursorOf(query);
      const { id } = await sessions.get(params.id, scope);
      const { limit, offset, status } = query;
      const filter = { ...(status && { status }), ...(scope && { scope }) };
      const [found, total] = await Promise.all([
        storage.listRuns(id, { limit: limit + 1, offset, ...(before && { before }), ...filter }),
        storage.countRuns(id, filter),
      ]);
      const { page: runs, info } = cursorPage(query, found, total);
      return { runs, ...info };
    },
    getRun: async ({ params, scope }) => find((await sessions.get(params.id, scope)).id, params.run_id, scope),
    listEvents: async ({ params, query, headers, last_event_id, scope }) => {
      const { id } = await sessions.get(params.id, scope);
      const { after, limit, type: types } = query;
      if (acceptsStream(headers)) return streams.followSession({ session_id: id, last_event_id, after, types });
      const which = { session_id: id, ...(types && { types }), ...(scope && { scope }) };
      let has_more = false;
      const events = await gatherRows<StoredEvent>(limit, async (count, before) => {
        const page = await storage.readEvents({ ...which, limit: count, after: before.at(-1)?.id ?? after ?? 0 });
        has_more = page.has_more;
        return page.events;
      });
      return { events, has_more };
    },
    listRunEvents: async ({ params, query, last_event_id, scope }) => {
      const [session, since] = await Promise.all([sessions.get(params.id, scope), storage.lastEventId(params.id)]);
      const run = await find(session.id, params.run_id, scope);
      const { after, type: types } = query;
      const request = { session_id: session.id, run, since, last_event_id, after, types, close_at_interrupt: false };
      // 204 tells EventSource to stop; an empty stream it would ask for again and again.
      return (await streams.followRun(request)) ?? new Response(null, { status: 204 });
    },
  };
}
