import type { EventData, LoggedEventType } from "@cognition/contract";

/** An event of a session's log, as a stream carries it. */
export type LogEvent = { [T in LoggedEventType]: { id: number; event: T; data: EventData<T> } }[LoggedEventType];

/** The server's log ends before what this client has seen (it was restored from a backup): read everything anew. */
export interface ResetEvent {
  event: "reset";
  data: EventData<"reset">;
}

export type SessionEvent = LogEvent | ResetEvent;
