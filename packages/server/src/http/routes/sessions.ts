import type { RunEngine } from "../../run/run-engine.ts";
import type { Sessions } from "../../session/sessions.ts";
import type { Handlers } from "../handler.ts";
import { cursorPage, uuidCursorOf } from "./page.ts";

export interface SessionRoutes {
  readonly sessions: Sessions;
  readonly engine: Pick<RunEngine, "abort">;
}

type Names = "createSession" | "listSessions" | "getSession" | "updateSession" | "deleteSession" | "abortSession";

export function sessionRoutes({ sessions, engine }: SessionRoutes): Pick<Handlers, Names> {
  return {
    createSession: ({ body, scope, key_id }) => sessions.create(body, scope, key_id),
    listSessions: async ({ query, scope }) => {
      const { metadata, status, limit, offset } = query;
      const before = uuidCursorOf(query);
      const { found, total } = await sessions.list(
        { ...(metadata && { metadata_filters: metadata }), ...(status && { status }), ...(scope && { scope }) },
        { limit: limit + 1, ...(before === undefined ? { offset } : { before }) },
      );
      const { page, info } = cursorPage(query, found, total);
      return { sessions: page, ...info };
    },
    getSession: ({ params, scope }) => sessions.get(params.id, scope),
    updateSession: ({ params, body, scope }) => sessions.update(params.id, body, scope),
    deleteSession: async ({ params, scope }) => {
      await sessions.delete(params.id, scope);
      return undefined;
    },
    abortSession: async ({ params, body, scope }) => {
      const { id } = await sessions.get(params.id, scope);
      return { success: true, message: "Operation aborted", aborted: await engine.abort(id, body.run_id) };
    },
  };
}
