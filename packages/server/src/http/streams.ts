import { isRunOutcome, type LoggedEventType, type Run, type StoredEvent } from "@cognition/contract";
import type { EventLog } from "@cognition/thread";
import { createEventSource } from "./event-source.ts";
import { streamResponse } from "./event-stream.ts";
import type { StreamOptions, TextSource } from "./socket-stream.ts";
import { connectionFrame, retryFrame } from "./sse.ts";

export interface StreamsOptions extends StreamOptions {
  readonly log: Pick<EventLog, "countEvents" | "followEventBatches">;
  readonly retry_ms: number;
}

export interface StreamRequest {
  readonly session_id: string;
  readonly last_event_id?: number | undefined;
  /** Where to begin, if the client has no `Last-Event-ID`; without either, with what comes next. */
  readonly after?: number | undefined;
  readonly types?: readonly LoggedEventType[] | undefined;
  readonly response_headers?: Record<string, string>;
}

export interface RunStreamRequest extends StreamRequest {
  readonly run: Run;
  /**
   * The log's end before `run` was read: from there on comes what comes next. Counted later, it could be past the end of a
   * run that was still at work when it was read, and the stream would wait for that end for ever.
   */
  readonly since: number;
  /** The run was made by this very request, right after `after`. */
  readonly is_new?: boolean;
  /** A POST's stream ends when the run waits for a human; a GET's goes on. */
  readonly close_at_interrupt: boolean;
}

/** The event streams of one node. */
export interface Streams {
  readonly open: number;
  followSession(request: StreamRequest): Promise<Response>;
  /** Ends with the run. Undefined where the run has ended and the client has seen all of it. */
  followRun(request: RunStreamRequest): Promise<Response | undefined>;
  /** Ends every stream; each client has the id to go on from elsewhere. */
  close(): void;
}

interface Start {
  readonly after: number;
  /** Left out where the log has folded what this process may still have in pieces: what was announced is what is sent. */
  readonly head?: number;
  readonly missed: number;
  readonly opening: string;
}

export function createStreams(options: StreamsOptions): Streams {
  const open = new Set<TextSource>();
  let closed = false;

  function respond(request: StreamRequest, start: Start, filter: Filter): Response {
    const { session_id } = request;
    const source = createEventSource({
      log: options.log,
      session_id,
      after: start.after,
      head: start.head,
      opening: start.opening,
      ...filter,
    });
    open.add(source);
    void source.ended.then(() => open.delete(source));
    if (closed) void source.return();
    return streamResponse(source, options, request.response_headers);
  }

  return {
    get open() {
      return open.size;
    },
    async followSession(request) {
      const start = await findStart(options, request);
      return respond(request, start, filterFor(request.types, WHOLE));
    },
    async followRun(request) {
      const { run, close_at_interrupt } = request;
      const start = startOfNew(options, request) ?? (await findStart(options, request, request));
      if (start.missed === 0 && isOver(request)) return undefined;
      const accepts = ({ run_id }: StoredEvent) => run_id === run.id;
      const closes = ({ event, run_id }: StoredEvent) =>
        run_id === run.id && (event === "done" || (close_at_interrupt && event === "interrupt"));
      return respond(request, start, filterFor(request.types, { accepts, closes }));
    },
    close() {
      closed = true;
      for (const source of open) void source.return();
    },
  };
}

interface Filter {
  accepts(event: StoredEvent): boolean;
  closes(event: StoredEvent): boolean;
}

/** Whether the run has nothing more to say on this stream. Read before the log was counted, so what it said is there. */
function isOver({ run, close_at_interrupt }: RunStreamRequest): boolean {
  return isRunOutcome(run.status) || (close_at_interrupt && run.status === "waiting_for_approval");
}

/** All of a session's log, which has no end. */
const WHOLE: Filter = { accepts: () => true, closes: () => false };

function filterFor(types: readonly LoggedEventType[] | undefined, { accepts, closes }: Filter): Filter {
  const wanted = types && new Set<string>(types);
  return { closes, accepts: wanted ? (event) => wanted.has(event.event) && accepts(event) : accepts };
}

/**
 * A run that has just been accepted has told its first event, and nobody has missed any: what the log would be asked is
 * known, and its answer would come behind the next commit.
 */
function startOfNew(
  { retry_ms }: StreamsOptions,
  { is_new, after, last_event_id }: RunStreamRequest,
): Start | undefined {
  if (!is_new || after === undefined || last_event_id !== undefined) return undefined;
  return { after, head: after + 1, missed: 1, opening: retryFrame(retry_ms, after) };
}

async function findStart(
  options: StreamsOptions,
  { session_id, types, ...request }: StreamRequest,
  ofRun?: Pick<RunStreamRequest, "run" | "since">,
): Promise<Start> {
  const lastSeen = request.last_event_id;
  // What the client saw last goes over what its address said when it first came.
  const after = lastSeen ?? request.after;
  const query = { session_id, ...(types && { types }), ...(ofRun && { run_id: ofRun.run.id }) };
  const { events, folded, head } = await options.log.countEvents({ ...query, after: after ?? Number.MAX_SAFE_INTEGER });
  const { retry_ms } = options;
  const next = { after: ofRun?.since ?? head, head, missed: 0 };
  if (after === undefined) return { ...next, opening: retryFrame(retry_ms, next.after) };
  if (after > head) {
    const reset = connectionFrame({ event: "reset", data: { head: next.after } });
    return { ...next, opening: retryFrame(retry_ms) + reset };
  }
  const place = { after, missed: events, ...(folded === 0 && { head }) };
  if (lastSeen === undefined) return { ...place, opening: retryFrame(retry_ms, after) };
  const data = { last_event_id: lastSeen, replayed: events, folded: folded > 0 };
  return { ...place, opening: retryFrame(retry_ms) + connectionFrame({ event: "reconnected", data }) };
}
