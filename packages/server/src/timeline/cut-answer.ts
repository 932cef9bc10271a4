import type { Storage } from "@cognition/thread";

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
  { timeline }: Pick<Storage, "timeline">,
  session_id: string,
  run_id: string,
): Promise<CutAnswer | undefined> {
  const [head] = await timeline.readTimeline(session_id, { limit: 1 });
  if (head?.source !== "update" || head.run_id !== run_id || head.next.length > 0) return undefined;
  if (head.parent_id === null) return undefined;
  const [before] = await timeline.readTimeline(session_id, { checkpoint_ids: [head.parent_id], limit: 1 });
  if (!before || before.next.length === 0) return undefined;
  return { cut: head.checkpoint_id, before: before.checkpoint_id };
}
