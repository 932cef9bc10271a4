import type { EventLog } from "../event-log.ts";
import type { SqlContext } from "./context.ts";
import { appendEvents } from "./event-append.ts";
import { compactEvents } from "./event-compaction.ts";
import { followEventBatches, followEvents } from "./event-follow.ts";
import { countEvents, lastEventId, readEvents } from "./event-read.ts";

/** Others that commit events themselves tell the followers by `ctx.feed.publish`. */
export function createEventLog(ctx: SqlContext): EventLog {
  return {
    appendEvents: (append) => appendEvents(ctx, append),
    readEvents: (query) => readEvents(ctx, query),
    lastEventId: (session_id) => lastEventId(ctx, session_id),
    followEvents: (follow) => followEvents(ctx, follow),
    followEventBatches: (follow) => followEventBatches(ctx, follow),
    countEvents: (query) => countEvents(ctx, query),
    compactEvents: (before, options) => compactEvents(ctx, before, options),
  };
}
