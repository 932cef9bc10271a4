import { z } from "zod";
import { CONNECTION_EVENT_DATA, EventId, LOGGED_EVENT_DATA } from "./event-data.ts";
import { DEFAULT_EVENT_PAGE_LIMIT, MAX_EVENT_PAGE_LIMIT } from "./limits.ts";
import { queryInt } from "./page.ts";
import { Timestamp } from "./time.ts";

type LoggedData = typeof LOGGED_EVENT_DATA;
type ConnectionData = typeof CONNECTION_EVENT_DATA;

export const EVENT_DATA = { ...CONNECTION_EVENT_DATA, ...LOGGED_EVENT_DATA };
export type LoggedEventType = keyof LoggedData;
export type EventType = keyof typeof EVENT_DATA;
export type EventData<T extends EventType = EventType> = z.infer<(typeof EVENT_DATA)[T]>;

export const LOGGED_EVENT_TYPES = Object.keys(LOGGED_EVENT_DATA) as LoggedEventType[];
export const EVENT_TYPES = Object.keys(EVENT_DATA) as EventType[];
export const EventType = z.enum(EVENT_TYPES);
export const LoggedEventType = z.enum(LOGGED_EVENT_TYPES);

/** Last of its run, exactly once. */
export const TERMINAL_EVENT_TYPES = ["done"] as const satisfies readonly LoggedEventType[];
/** A POST's stream ends here too: after `interrupt` the run waits for a human, for as long as that takes. */
export const CLOSING_EVENT_TYPES = ["done", "interrupt"] as const satisfies readonly LoggedEventType[];

export function isTerminalEvent(type: string): boolean {
  return TERMINAL_EVENT_TYPES.some((terminal) => terminal === type);
}

/** An event before the log gives it its number. */
export type NewEvent = { [T in LoggedEventType]: { event: T; data: EventData<T> } }[LoggedEventType];

function logged<T extends LoggedEventType>(event: T) {
  return z.strictObject({
    /** 1, 2, 3 … per session, without gap or reuse. */
    id: EventId,
    session_id: z.string(),
    run_id: z.string().nullable(),
    event: z.literal(event),
    data: LOGGED_EVENT_DATA[event],
    created_at: Timestamp,
  });
}

function ofConnection<T extends keyof ConnectionData>(event: T) {
  return z.strictObject({ event: z.literal(event), data: CONNECTION_EVENT_DATA[event] });
}

export const StoredEvent = z.discriminatedUnion("event", [
  logged("status"),
  logged("token"),
  logged("reasoning"),
  logged("planning"),
  logged("step_complete"),
  logged("tool_call"),
  logged("tool_output"),
  logged("tool_result"),
  logged("delegation"),
  logged("interrupt"),
  logged("checkpoint"),
  logged("head_moved"),
  logged("custom"),
  logged("usage"),
  logged("error"),
  logged("done"),
]);
export type StoredEvent = z.infer<typeof StoredEvent>;

export const ConnectionEvent = z.discriminatedUnion("event", [ofConnection("reconnected"), ofConnection("reset")]);
export type ConnectionEvent = z.infer<typeof ConnectionEvent>;

/** What a stream carries of an event: whose it is, is known to whoever opened the stream, and the data names the run. */
function asSent({ shape: { id, event, data } }: (typeof StoredEvent.options)[number]) {
  return z.strictObject({ id, event, data });
}

/** What a stream carries. */
export const StreamEvent = z.discriminatedUnion("event", [ConnectionEvent, ...StoredEvent.options.map(asSent)]);
export type StreamEvent = z.infer<typeof StreamEvent>;

/** `type=token,done`, repeated or both; without `after`, a stream starts with what comes next. */
export const ListEvents = z.strictObject({
  after: queryInt("after", 0, Number.MAX_SAFE_INTEGER).optional(),
  limit: queryInt("limit", 1, MAX_EVENT_PAGE_LIMIT).prefault(DEFAULT_EVENT_PAGE_LIMIT),
  type: z
    .preprocess(
      (value: string | readonly string[]) => [value].flat().flatMap((types) => types.split(",")),
      z.array(LoggedEventType),
    )
    .optional(),
});
export type ListEvents = z.infer<typeof ListEvents>;
export type ListEventsInput = z.input<typeof ListEvents>;

export const EventPage = z.strictObject({ events: z.array(StoredEvent), has_more: z.boolean() });
export type EventPage = z.infer<typeof EventPage>;
