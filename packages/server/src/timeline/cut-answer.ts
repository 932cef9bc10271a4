import type { Session } from "@cognition/contract";
import type { Storage } from "@cognition/thread";
import { findEntry, findHead } from "./find-place.ts";

export interface CutAnswer {
  /** The head, which holds what had been said of it. */
  cut: string;
  /** Where the thread stood before: the answer came next. */
  before: string;
}

/**
 * The answer in whose middle this run was stopped: what had been said of it is kept as the thread's end, with nothing to come.
 * Undefined where the thread ends otherwise.
 */
export async function findCutAnswer(
  storage: Pick<Storage, "timeline">,
  session: Pick<Session, "id">,
  run_id: string,
): Promise<CutAnswer | undefined> {
  const head = await findHead(storage, session);
  if (head?.source !== "update" || head.run_id !== run_id || head.next.length > 0) return undefined;
  if (head.parent_id === null) return undefined;
  const before = await findEntry(storage, session, head.parent_id);
  if (!before || before.next.length === 0) return undefined;
  return { cut: head.checkpoint_id, before: before.checkpoint_id };
}
