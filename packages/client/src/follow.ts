import type { EventData } from "@cognition/contract";
import { AppError } from "@cognition/contract/app-error";
import { type Backoff, retryAfter, type Wait } from "./backoff.ts";
import { readStream } from "./read-stream.ts";
import type { LogEvent, SessionEvent } from "./session-event.ts";
import type { SseFrame } from "./sse-parser.ts";
import { mayHelp } from "./transport.ts";

export interface FollowOptions {
  readonly signal?: AbortSignal | undefined;
  /** Called whenever the stream was lost and is there again. */
  readonly onReconnect?: ((reconnected: EventData<"reconnected">) => void) | undefined;
  /** Called whenever the stream was lost, or could not be had, and will be tried again. */
  readonly onLost?: ((lost: LostStream) => void) | undefined;
}

export interface LostStream {
  /** Attempts in a row that brought nothing. */
  readonly failures: number;
  /** How long until the next one. */
  readonly wait_ms: number;
  /** Why there was no stream; undefined where there was one, and it ended too early. */
  readonly error: unknown;
}

export interface FollowParts extends FollowOptions {
  /** Opens the stream after this id, or from where it starts by itself; undefined where there is nothing more to come. */
  readonly connect: (after: number | undefined) => Promise<Response | undefined>;
  /** After which event the stream is over; never for one that follows a whole session. */
  readonly isLast: (event: LogEvent) => boolean | Promise<boolean>;
  readonly after?: number | undefined;
  readonly wait: Wait;
  readonly backoff: Backoff;
  readonly idleMs: number;
  /** Attempts in a row that brought nothing, not even a heartbeat, before it is given up. */
  readonly maxFailures: number;
}

interface Position {
  after: number | undefined;
  retry: number | undefined;
  failures: number;
}

/** Each event once, in order, over as many connections as it takes. */
export async function* follow(parts: FollowParts): AsyncGenerator<SessionEvent, void, undefined> {
  const position: Position = { after: parts.after, retry: undefined, failures: 0 };
  for (;;) {
    const response = await insist(parts, position, () => parts.connect(position.after));
    if (!response) return;
    for await (const frame of readStream(response, {
      idleMs: parts.idleMs,
      onRetry: (ms) => {
        position.retry = ms;
      },
      // A stream that stood until then was one: a quiet session is not given up because a proxy cuts every connection.
      onHeartbeat: () => {
        position.failures = 0;
      },
    })) {
      parts.signal?.throwIfAborted(); // one chunk may hold many events
      const event = accept(frame, position, parts);
      if (!event) continue;
      // Asked first: whoever is handed a question may answer it before asking for more.
      const isLast = event.event !== "reset" && (await insist(parts, position, async () => parts.isLast(event)));
      yield event;
      if (isLast) return;
    }
    parts.signal?.throwIfAborted();
    await pause(parts, position, undefined);
  }
}

/** Before another attempt; throws where there have been enough. */
async function pause(parts: FollowParts, position: Position, error: unknown): Promise<void> {
  position.failures += 1;
  if (position.failures > parts.maxFailures) throw lost(position, error);
  const wait_ms = parts.backoff.delay(position.failures, position.retry, retryAfter(error));
  parts.onLost?.({ failures: position.failures, wait_ms, error });
  await parts.wait(wait_ms, parts.signal);
}

/** Asks for as long as that may help. */
async function insist<T>(parts: FollowParts, position: Position, ask: () => Promise<T>): Promise<T> {
  for (;;) {
    try {
      return await ask();
    } catch (error) {
      parts.signal?.throwIfAborted();
      if (!mayHelp(error)) throw error;
      await pause(parts, position, error);
    }
  }
}

/** The event of a frame that is new; undefined for one that was seen before, or is about the connection. */
function accept(frame: SseFrame, position: Position, parts: FollowParts): SessionEvent | undefined {
  if (frame.event === "reconnected" && frame.data !== undefined) {
    parts.onReconnect?.(parseData(frame.data, position) as EventData<"reconnected">);
    return undefined;
  }
  if (frame.event === "reset" && frame.data !== undefined) {
    const data = parseData(frame.data, position) as EventData<"reset">;
    position.after = data.head;
    return { event: "reset", data };
  }
  const id = Number(frame.id);
  if (frame.id === undefined || !Number.isSafeInteger(id)) return undefined;
  if (position.after !== undefined && id <= position.after) return undefined;
  const data = frame.data === undefined ? undefined : parseData(frame.data, position);
  position.after = id;
  if (data === undefined) return undefined;
  position.failures = 0;
  return { id, event: frame.event, data } as LogEvent;
}

/** Whoever writes something else into the stream would do so the next time, too. */
function parseData(text: string, { after }: Position): object {
  try {
    const data: unknown = JSON.parse(text);
    if (typeof data === "object" && data !== null) return data;
  } catch {
    // told below: of what is no JSON and of what is no object alike
  }
  const message = `The stream has what is no event: ${text.slice(0, 200)}`;
  throw new AppError("unexpected_answer", message, { details: { last_event_id: after ?? null } });
}

function lost({ after, failures }: Position, cause: unknown): AppError {
  const seen =
    after === undefined
      ? ""
      : ` Everything up to event ${after} was received; what follows can be read with after=${after}.`;
  return new AppError(
    "server_unreachable",
    `The stream was lost and could not be had again in ${failures} attempts.${seen}`,
    {
      cause,
      details: { last_event_id: after ?? null },
    },
  );
}
