import { createHash } from "node:crypto";
import type { Checkpoint } from "@langchain/langgraph-checkpoint";
import { serialize } from "../../../src/checkpoint/serializer.ts";
import type { Ledger } from "../ledger.ts";
import type { Observed } from "../observed-storage.ts";

/** What every step of a writer has at hand. */
export interface Work extends Observed {
  ledger: Ledger;
  lease_ms: number;
  /** The session that earlier writers talked in; undefined while there is none. */
  session: { session_id: string; thread_id: string } | undefined;
  /** A number of its own for each call. */
  next: () => number;
  newId: () => string;
}

/** Of what a value is when it is stored, so that one that was read back can be compared by a short line. */
export function hashOf(value: unknown): string {
  return createHash("sha256").update(serialize(value, "value")).digest("hex").slice(0, 16);
}

/** Of a checkpoint's channels, in whatever order they come. One without a version was never written, and is not kept. */
export function hashOfState(checkpoint: Checkpoint | undefined): string {
  const { channel_values = {}, channel_versions = {} } = checkpoint ?? {};
  const written = Object.entries(channel_values).filter(([name]) => name in channel_versions);
  return hashOf(written.sort(([a], [b]) => (a < b ? -1 : 1)));
}
