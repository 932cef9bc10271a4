import type { ServerProcess } from "./server-process.ts";

export interface Timing {
  readonly first_event_ms: number;
  readonly whole_ms: number;
}

/** How a run is followed by somebody who was there before. */
export interface Reconnect {
  readonly path: string;
  readonly headers: Record<string, string>;
}

/** One of the servers under comparison, each spoken to with its own SDK. */
export interface HttpSide {
  readonly name: string;
  start(folder: string): Promise<ServerProcess>;
  connect(url: string): SideClient;
}

export interface SideClient {
  createThread(): Promise<string>;
  /** From the message to the end of its stream; rejects unless the echo came back. */
  run(thread: string, text: string): Promise<Timing>;
  /** Does not wait for the run: its id, once it was accepted. */
  submit(thread: string, text: string): Promise<string>;
  /** Whether the run has succeeded; false where it has not, or is not known any more. */
  hasSucceeded(thread: string, run: string): Promise<boolean>;
  reconnect(thread: string, run: string): Reconnect;
}
