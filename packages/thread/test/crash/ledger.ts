import { existsSync, openSync, readFileSync, writeSync } from "node:fs";

/**
 * What a writer was told. A line that begins with "will" stands before its write: from then on both outcomes are
 * right, but nothing in between. Every other line stands after the write was acknowledged, and so must be found.
 */
export type Entry =
  | { t: "session"; session_id: string; thread_id: string }
  | { t: "title"; session_id: string; n: number }
  | { t: "message"; session_id: string; message_id: string; hash: string }
  | { t: "run"; session_id: string; run_id: string; key: string; body_hash: string; message_id: string }
  | { t: "events"; session_id: string; run_id: string; ids: number[] }
  | { t: "checkpoint"; thread_id: string; ns: string; checkpoint_id: string; hash: string }
  | { t: "writes"; thread_id: string; ns: string; checkpoint_id: string; task_id: string; channels: string[] }
  | { t: "begun"; run_id: string; tool_call_id: string; ns: string }
  | { t: "effect"; idempotency_key: string; on_crash: string }
  | { t: "tool_end"; run_id: string; tool_call_id: string; ns: string; result: string }
  | { t: "finished"; session_id: string; run_id: string; status: string }
  | { t: "artifact"; session_id: string; id: string; version: number; hash: string }
  | { t: "will_put"; pair: string; n: number }
  | { t: "put"; pair: string; n: number }
  | { t: "key"; key: string; body_hash: string; response: string }
  | { t: "attempts"; session_id: string; delivery_id: string; count: number }
  | { t: "will_clear"; session_id: string }
  | { t: "rebuilt"; session_id: string }
  | { t: "will_prune"; thread_id: string }
  | { t: "copied"; thread_id: string; hash: string }
  | { t: "will_delete_thread"; thread_id: string }
  | { t: "will_delete"; session_id: string; thread_id: string }
  | { t: "deleted"; session_id: string; thread_id: string }
  | { t: "task"; task_id: string; user_id: string; conversation_id: string; n: number }
  | { t: "will_complete"; task_id: string; user_id: string; conversation_id: string }
  | { t: "chat"; user_id: string; n: number }
  | { t: "recovered" }
  | { t: "step"; name: string };

export type EntryOf<T extends Entry["t"]> = Extract<Entry, { t: T }>;

export interface Ledger {
  write(entry: Entry): void;
}

/** Lines go straight to the kernel, which outlives the process, each in one piece even when several processes write. */
export function openLedger(path: string): Ledger {
  const file = openSync(path, "a");
  return { write: (entry) => void writeSync(file, `${JSON.stringify(entry)}\n`) };
}

/** Reads on from where it was, which matters when a ledger has grown over hundreds of writers. */
export function createLedgerReader(path: string): () => readonly Entry[] {
  const entries: Entry[] = [];
  let offset = 0;
  return () => {
    const text = existsSync(path) ? readFileSync(path).subarray(offset) : Buffer.alloc(0);
    const end = text.lastIndexOf("\n") + 1;
    offset += end;
    const lines = text.toString("utf8", 0, end).split("\n").slice(0, -1);
    for (const line of lines) entries.push(JSON.parse(line));
    return entries;
  };
}

export function readLedger(path: string): readonly Entry[] {
  return createLedgerReader(path)();
}
