import type { EventPage, LoggedEventType, ResumeSession, Run, SendMessageInput } from "@cognition/contract";
import { AppError } from "@cognition/contract/app-error";
import type { Backoff, Wait } from "./backoff.ts";
import { type FollowOptions, follow } from "./follow.ts";
import { keyText } from "./idempotency-key.ts";
import { fillPath } from "./path.ts";
import { ROUTE_TABLE } from "./route-table.ts";
import { createRunStream, type RunStream } from "./run-stream.ts";
import type { SessionEvent } from "./session-event.ts";
import type { RequestOptions, Transport, TransportRequest } from "./transport.ts";

type Content = SendMessageInput["content"];

export interface SendOptions extends Omit<SendMessageInput, "content" | "idempotency_key">, FollowOptions {
  /** Names this message for ever: sent again under the same key, it is still one message and one run. */
  readonly idempotencyKey?: string | undefined;
}

export interface FollowEventsOptions extends FollowOptions {
  /** The last event that is known; 0 for all there are. Left out: what comes from now on. */
  readonly after?: number | undefined;
  readonly types?: readonly LoggedEventType[] | undefined;
}

export interface Streams {
  /**
   * Sends a message, when reading begins, and gives the events of its run, each once, until `done`, or until `interrupt` where it waits for a human.
   * A lost connection is made again by itself, and never sends the message twice. Leaving the loop leaves the run running.
   */
  sendMessage(session_id: string, content: Content, options?: SendOptions): RunStream;
  /** Sends a message and does not wait: the run as it was accepted. */
  submitMessage(
    session_id: string,
    content: Content,
    options?: Omit<SendOptions, "onReconnect" | "onLost">,
  ): Promise<Run>;
  /** As `resumeSession`, and gives the events of the run that goes on. */
  resumeAndFollow(session_id: string, body?: ResumeSession, options?: FollowOptions): RunStream;
  /**
   * The events of one run until it ends, or until an `interrupt` that nobody has answered yet. Nothing at all where it has
   * ended before `after`.
   */
  followRun(session_id: string, run_id: string, options?: FollowEventsOptions): RunStream;
  /** A session's whole log, live, until the signal aborts or the loop is left. */
  followEvents(session_id: string, options?: FollowEventsOptions): AsyncIterable<SessionEvent>;
}

export interface StreamParts {
  readonly transport: Transport;
  readonly wait: Wait;
  readonly backoff: Backoff;
  readonly idleMs: number;
  readonly maxFailures: number;
}

const STREAM = { Accept: "text/event-stream" };

export function createStreams(parts: StreamParts): Streams {
  const { transport } = parts;
  const openStream = async (request: TransportRequest) =>
    asStream(await transport.send({ ...request, withinMs: parts.idleMs }));

  /** The header says that the stream was lost: the server then tells that it is there again, and what it replays. */
  async function getStream(path: string, after: number | undefined, wasLost: boolean, options: FollowEventsOptions) {
    const goesOn = wasLost && after !== undefined;
    return openStream({
      method: "GET",
      path,
      query: { after: goesOn ? undefined : after, type: options.types },
      headers: { ...STREAM, ...(goesOn && { "Last-Event-ID": String(after) }) },
      signal: options.signal,
    });
  }

  /** Asked once for each connection: every time but the first, there was one, or should have been. */
  function streamAt(path: string, options: FollowEventsOptions) {
    let asked = 0;
    return (after: number | undefined) => getStream(path, after, asked++ > 0, options);
  }

  /**
   * Opens a run by a POST. Once its id and a position in it are known, the run itself is asked for, since keys are forgotten
   * after a day. The id alone does not do: a run that was answered has its old question in the log, which would end the stream.
   */
  function runByPost(path: string, session_id: string, body: unknown, options: SendOptions): RunStream {
    const headers = {
      ...STREAM,
      "Content-Type": "application/json",
      "Idempotency-Key": keyText(options.idempotencyKey),
    };
    return createRunStream({
      ...parts,
      ...options,
      async connect(after, run_id) {
        if (run_id !== undefined && after !== undefined) {
          return getStream(runPath(session_id, run_id), after, true, { signal: options.signal });
        }
        return openStream({ method: "POST", path, body: JSON.stringify(body), headers, signal: options.signal });
      },
    });
  }

  const messagesPath = (session_id: string) => fillPath(ROUTE_TABLE.sendMessage[1], [session_id]);

  return {
    sendMessage: (session_id, content, options = {}) =>
      runByPost(messagesPath(session_id), session_id, messageBody(content, options), options),
    async submitMessage(session_id, content, options = {}) {
      const request = {
        method: "POST",
        path: messagesPath(session_id),
        body: JSON.stringify(messageBody(content, options)),
        headers: {
          Accept: "application/json",
          Prefer: "respond-async",
          "Content-Type": "application/json",
          "Idempotency-Key": keyText(options.idempotencyKey),
        },
        signal: options.signal,
      };
      return transport.receiveSafely(request, (response) => response.json() as Promise<Run>);
    },
    resumeAndFollow: (session_id, body = {}, options = {}) =>
      runByPost(fillPath(ROUTE_TABLE.resumeSession[1], [session_id]), session_id, body, options),
    followRun: (session_id, run_id, options = {}) => {
      const connect = streamAt(runPath(session_id, run_id), options);
      return createRunStream({
        ...parts,
        ...options,
        run_id,
        connect: (after = 0) => connect(after),
        isOpen: ({ id }) => isOpen(transport, { session_id, run_id, id, signal: options.signal }),
      });
    },
    followEvents: (session_id, options = {}) =>
      follow({
        ...parts,
        ...options,
        connect: streamAt(fillPath(ROUTE_TABLE.listEvents[1], [session_id]), options),
        isLast: () => false,
      }),
  };
}

/** Undefined where there is nothing more to come. What is no stream will be none the next time either. */
function asStream(response: Response): Response | undefined {
  const { status, headers, body } = response;
  if (status === 204) return undefined;
  const type = headers.get("content-type") ?? "nothing";
  if (type.startsWith("text/event-stream")) return response;
  body?.cancel().catch(() => {}); // nobody will read it
  const message = `The server answered ${status} with ${type} where a stream of events should be; is the address right?`;
  throw new AppError("unexpected_answer", message, { details: { status } });
}

function runPath(session_id: string, run_id: string): string {
  return fillPath(ROUTE_TABLE.listRunEvents[1], [session_id, run_id]);
}

interface Question extends Pick<RequestOptions, "signal"> {
  readonly session_id: string;
  readonly run_id: string;
  /** Of the event that asks. */
  readonly id: number;
}

/** The log keeps every question, and the run's next event stands behind one that was answered. */
async function isOpen(transport: Transport, { session_id, run_id, id, signal }: Question): Promise<boolean> {
  const path = fillPath(ROUTE_TABLE.listEvents[1], [session_id]);
  const request = { method: "GET", path, query: { after: id }, signal };
  const { events } = await transport.receiveSafely(request, (response) => response.json() as Promise<EventPage>);
  return events.every((event) => event.run_id !== run_id);
}

function messageBody(content: Content, options: SendOptions | RequestOptions): SendMessageInput {
  const { signal: _, onReconnect: __, onLost: ___, idempotencyKey: ____, ...fields } = options as SendOptions;
  return { content, ...fields };
}
