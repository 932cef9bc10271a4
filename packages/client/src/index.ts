export { AppError, isAppError } from "@cognition/contract/app-error";
export type { Wait } from "./backoff.ts";
export { type Client, type ClientOptions, createClient } from "./client.ts";
export type { FollowOptions, LostStream } from "./follow.ts";
export type { CallOptions, Operations } from "./operation-types.ts";
export type { RunRest, RunStream } from "./run-stream.ts";
export type { LogEvent, ResetEvent, SessionEvent } from "./session-event.ts";
export type { FollowEventsOptions, SendOptions, Streams } from "./streams.ts";
