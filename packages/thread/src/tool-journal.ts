import type { Lease } from "./run-store.ts";

export interface ToolCallKey {
  thread_id: string;
  checkpoint_ns: string;
  tool_call_id: string;
}

export interface ToolCallIntent extends ToolCallKey {
  lease: Lease;
  name: string;
  args: unknown;
  /** What a crash between intent and result means: run it again, tell the model it is unknown, or ask a human. */
  on_crash: "retry" | "never" | "ask";
}

/** What to do now: run it, use what it came to, or face that nobody knows. */
export type ToolCallState =
  | { state: "started"; attempt: number; idempotency_key: string }
  | { state: "finished"; outcome: ToolOutcome; result: unknown }
  | { state: "unknown"; on_crash: "never" | "ask"; idempotency_key: string };

export type ToolOutcome = "ok" | "error" | "denied" | "aborted" | "unknown";

export interface ToolJournal {
  /**
   * Records the intent before the tool starts. The idempotency key is the same for every attempt of one call. One that was
   * stopped and has no result is like one that a crash has cut off, where it may be retried; another one stays as it ended.
   *
   * What the checkpointer has on its way under this lease (the same object) is stored before the intent or with it; if that
   * fails, so does the beginning, with its error, and there is no intent.
   */
  beginToolCall(intent: ToolCallIntent): Promise<ToolCallState>;
  finishToolCall(key: ToolCallKey, lease: Lease, end: { outcome: ToolOutcome; result: unknown }): Promise<void>;
  /** The tool asked a human first: its intent is taken back, so that the answer starts it afresh. */
  withdrawToolCall(key: ToolCallKey, lease: Lease): Promise<void>;
  listToolCalls(run_id: string): Promise<ToolCallRecord[]>;
}

export interface ToolCallRecord {
  checkpoint_ns: string;
  tool_call_id: string;
  run_id: string;
  name: string;
  args: unknown;
  status: "started" | ToolOutcome;
  attempt: number;
  idempotency_key: string;
  result: unknown;
  created_at: string;
  finished_at: string | null;
}
