import { existsSync, openSync, readFileSync, writeSync } from "node:fs";

/** What happened outside of the database: what a client was told, and what tools did to the world. */
export type Entry =
  | { t: "accepted"; session_id: string; run_id: string; message_id: string; content: string }
  | { t: "released" }
  | Effect;

interface Effect {
  t: "effect";
  tool: string;
  note: string;
  tool_call_id: string;
  idempotency_key: string;
  run_id: string;
  /** Where it happened, if there are several. */
  node?: string;
}

export type EntryOf<T extends Entry["t"]> = Extract<Entry, { t: T }>;

export interface Ledger {
  write(entry: Entry): void;
  /** Whether what is held may go on. */
  isReleased(): boolean;
}

/** Lines go straight to the kernel, which outlives the process that is killed. */
export function openLedger(path: string): Ledger {
  const file = openSync(path, "a");
  return {
    write: (entry) => void writeSync(file, `${JSON.stringify(entry)}\n`),
    isReleased: () => readLedger(path, "released").length > 0,
  };
}

export function readLedger<T extends Entry["t"]>(path: string, type: T): EntryOf<T>[] {
  return readLines(path)
    .map((line) => JSON.parse(line) as Entry)
    .filter((entry): entry is EntryOf<T> => entry.t === type);
}

export function readLines(path: string): string[] {
  return existsSync(path) ? readFileSync(path, "utf8").split("\n").filter(Boolean) : [];
}
