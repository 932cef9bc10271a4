import type { Storage } from "@cognition/thread";
import { comparePlaces, listApprovals } from "../../session/approvals.ts";
import { type ResumeOptions, resumeSession } from "../../session/resume-session.ts";
import type { Sessions } from "../../session/sessions.ts";
import type { Handlers } from "../handler.ts";
import { type Idempotency, requestHash } from "../idempotency.ts";
import { type RunReplyOptions, replyWithRun } from "../run-reply.ts";
import { placeOf, toCursor } from "./approval-cursor.ts";
import { cursorSlice } from "./page.ts";

export interface ApprovalRoutes extends RunReplyOptions, Omit<ResumeOptions, "storage"> {
  readonly storage: Storage;
  readonly sessions: Pick<Sessions, "get">;
  readonly idempotency: Idempotency;
}

export function approvalRoutes(options: ApprovalRoutes): Pick<Handlers, "resumeSession" | "listApprovals"> {
  const { storage, sessions } = options;
  return {
    resumeSession: async (call) => {
      const { params, body, scope, signal } = call;
      const session = await sessions.get(params.id, scope);
      const work = async (key_id?: string) => {
        const after = await storage.lastEventId(session.id);
        return { run_id: (await resumeSession(options, session, body, key_id)).id, after };
      };
      const { idempotency_key: key } = body;
      const hash = requestHash("resumeSession", params, undefined, body);
      const { run_id, after } = await (key === undefined
        ? work()
        : options.idempotency.once({ key, hash, scope, signal }, work));
      return replyWithRun(options, call, { run: await storage.getRun(run_id), after, default_media: "json" });
    },
    listApprovals: async ({ query, scope }) => {
      const past = placeOf(query);
      const waiting = await listApprovals(storage, query.session_id, scope);
      const { page, info } = cursorSlice(
        query,
        waiting,
        (row) => past !== undefined && comparePlaces(row.place, past) > 0,
        ({ place }) => toCursor(place),
      );
      return { approvals: page.map(({ approval }) => approval), ...info };
    },
  };
}
