import { CLOSING_EVENT_TYPES, isRunOutcome, type RouteName, type Run } from "@cognition/contract";
import type { Storage } from "@cognition/thread";
import { acceptsStream, acceptsType, prefersAsync } from "./accept.ts";
import type { Call } from "./handler.ts";
import type { Streams } from "./streams.ts";

export interface RunReplyOptions {
  readonly storage: Pick<Storage, "getRun" | "followEventBatches">;
  readonly streams: Streams;
  /** How long a JSON answer waits for the run's end before it tells how far the run is. */
  readonly wait_ms: number;
}

export interface RunReply {
  readonly run: Run;
  /** The log's end before the run had anything new to say. */
  readonly after: number;
  /** Whether this request made the run, so that nobody can have seen anything of it. */
  readonly is_new?: boolean;
  readonly default_media: "stream" | "json";
}

/** One rule for every request that starts work: a stream, or the run at its end, or 202 with the run as it is. */
export async function replyWithRun(
  options: RunReplyOptions,
  call: Pick<Call<RouteName>, "headers" | "last_event_id" | "signal">,
  { run, after, is_new = false, default_media }: RunReply,
): Promise<Response> {
  const { headers, last_event_id } = call;
  const { session_id, id } = run;
  const location = { "Content-Location": `/sessions/${session_id}/runs/${id}` };
  if (prefersAsync(headers)) {
    return Response.json(run, { status: 202, headers: { ...location, "Preference-Applied": "respond-async" } });
  }
  if (wantsStream(headers, default_media)) {
    const place = { session_id, run, is_new, last_event_id, after, since: after };
    const stream = await options.streams.followRun({ ...place, close_at_interrupt: true, response_headers: location });
    return stream ?? new Response(null, { status: 204, headers: location });
  }
  const ended = await waitForRun(options, run, after, call.signal);
  const status = isRunOutcome(ended.status) || ended.status === "waiting_for_approval" ? 200 : 202;
  return Response.json(ended, { status, headers: location });
}

function wantsStream(headers: Headers, byDefault: "stream" | "json"): boolean {
  if (acceptsStream(headers)) return true;
  return byDefault === "stream" && !acceptsType(headers, "application/json");
}

async function waitForRun(options: RunReplyOptions, run: Run, after: number, client: AbortSignal): Promise<Run> {
  const { storage, wait_ms } = options;
  const signal = AbortSignal.any([client, AbortSignal.timeout(wait_ms)]);
  const closing: ReadonlySet<string> = new Set(CLOSING_EVENT_TYPES);
  const follow = { session_id: run.session_id, after, signal };
  for await (const batch of isRunOutcome(run.status) ? [] : storage.followEventBatches(follow)) {
    if (batch.some(({ event, run_id }) => run_id === run.id && closing.has(event))) break;
  }
  return storage.getRun(run.id);
}
