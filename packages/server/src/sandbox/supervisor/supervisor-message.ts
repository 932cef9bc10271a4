import type { ProcessStart } from "../process/run-process.ts";

/** What the server tells the supervisor: everything that a command needs, since the server may be gone before it ends. */
export interface RunMessage {
  readonly folder: string;
  readonly start: Omit<ProcessStart, "cgroup">;
  readonly cgroup: readonly string[] | undefined;
  readonly timeout_ms: number;
  readonly output_bytes: number;
}

/** What the supervisor tells the server: there is something new in that folder. */
export interface NewsMessage {
  readonly folder: string;
}
