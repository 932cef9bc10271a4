import { AppError, isAppError, type ListMessages, type Message, type MessagePage } from "@cognition/contract";
import type { Storage } from "@cognition/thread";
import { type SendOptions, sendMessage } from "../../session/send-message.ts";
import type { Sessions } from "../../session/sessions.ts";
import { gatherRows, requireAnswerable } from "../gather-rows.ts";
import type { Handlers } from "../handler.ts";
import { requestHash } from "../idempotency.ts";
import { type RunReplyOptions, replyWithRun } from "../run-reply.ts";
import { cursorOf, cursorPage } from "./page.ts";

export interface MessageRoutes extends SendOptions, RunReplyOptions {
  readonly storage: Storage;
  readonly sessions: Pick<Sessions, "get">;
}

type Names = "sendMessage" | "listMessages" | "getMessage" | "rebuildMessages";

export function messageRoutes(options: MessageRoutes): Pick<Handlers, Names> {
  const { storage, sessions } = options;
  return {
    sendMessage: async (call) => {
      const { params, body, scope } = call;
      // Together: each read by itself would wait for its turn between two commits.
      const [session, before] = await Promise.all([sessions.get(params.id, scope), storage.lastEventId(params.id)]);
      const { run, created } = await sendMessage(
        options,
        session,
        body,
        requestHash("sendMessage", params, undefined, body),
        call.headers.get("traceparent") ?? undefined,
      );
      // Of an earlier request with this key: its run's events may stand anywhere in the log.
      const after = created ? before : await beforeRun(storage, session.id, run.id);
      return replyWithRun(options, call, { run, after, is_new: created, default_media: "stream" });
    },
    listMessages: async ({ params, query, scope }) => {
      const past = cursorOf(query);
      const { id } = await sessions.get(params.id, scope);
      const { limit, offset, order, role, checkpoint_id } = query;
      if (checkpoint_id !== undefined) return pageOf(await storage.timeline.messagesAt(id, checkpoint_id), query);
      const filter = { order, ...(role && { role }), ...(scope && { scope }), ...(past !== undefined && { past }) };
      let total = 0;
      const found = await fromItsBeginning((begun) =>
        gatherRows<Message>(limit + 1, async (count, before) => {
          const last = before.at(-1);
          if (last) begun();
          const place = last ? { past: last.id } : { offset };
          const page = await storage.getMessagesBySession(id, { limit: count, ...filter, ...place });
          total = page.total;
          return page.messages;
        }),
      );
      const { page: messages, info } = cursorPage(query, found, total);
      return { messages, ...info };
    },
    getMessage: async ({ params, scope }) => {
      const { id } = await sessions.get(params.id, scope);
      const message = await storage.getMessage(params.message_id, { session_id: id, ...(scope && { scope }) });
      if (message) return message;
      throw new AppError("message_not_found", `There is no message ${params.message_id} in session ${id}`);
    },
    rebuildMessages: async ({ params, scope }) => storage.rebuildMessages((await sessions.get(params.id, scope)).id),
  };
}

/** Once more, if a rewind has taken away what the next portion was to come after: that message was none of the caller's. */
async function fromItsBeginning<T>(read: (begun: () => void) => Promise<T>): Promise<T> {
  for (;;) {
    let hasBegun = false;
    try {
      return await read(() => {
        hasBegun = true;
      });
    } catch (error) {
      if (!hasBegun || !isAppError(error, "message_not_found")) throw error;
    }
  }
}

async function beforeRun(storage: Storage, session_id: string, run_id: string): Promise<number> {
  const { events } = await storage.readEvents({ session_id, run_id, limit: 1 });
  return (events[0]?.id ?? 1) - 1;
}

/** Of another branch, oldest first, and there as a whole. */
function pageOf(all: readonly Message[], query: ListMessages): MessagePage {
  const { limit, offset, order, role, cursor } = query;
  const wanted = all.filter((message) => role === undefined || message.role === role);
  const ordered = order === "asc" ? wanted : wanted.toReversed();
  const begin = cursor === undefined ? offset : ordered.findIndex(({ id }) => id === cursor) + 1;
  if (cursor !== undefined && begin === 0) {
    throw new AppError("message_not_found", `Message ${cursor} is not on that branch; read from its first page again`);
  }
  const { page: messages, info } = cursorPage(query, ordered.slice(begin, begin + limit + 1), wanted.length);
  requireAnswerable(messages);
  return { messages, ...info };
}
