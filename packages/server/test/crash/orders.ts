import type { KillPlan } from "./kill-point.ts";

/** On a node's command line. */
export interface NodeInput {
  uri: string;
  ledger: string;
  workspace_root: string;
  /** How long its leases last. */
  lease_ms: number;
  /** How long it waits for a step to end once it was told to stop. */
  drain_ms: number;
}

export interface OrderedMessage {
  session_id: string;
  message_id: string;
  content: string;
}

/** On its standard input, once it is ready. */
export interface Order {
  plan?: KillPlan | undefined;
  messages: OrderedMessage[];
  /** Sessions whose runs must all have come to their end before the node says that it is idle. */
  sessions: string[];
}

export type Said =
  | { ready: true }
  | { accepted: string[] }
  | { idle: true }
  | { leaving: true }
  | { error: string; code: string | undefined; run_id: string };
