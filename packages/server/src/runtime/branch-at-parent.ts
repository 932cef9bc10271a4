import type { Storage } from "@cognition/thread";
import type { RunWork } from "../run/executor.ts";
import type { RunInput } from "../run/run-input.ts";
import { findCutAnswer } from "../timeline/cut-answer.ts";
import { afterMessage, findHead } from "../timeline/find-place.ts";
import { modeAfter } from "../timeline/undone-plan.ts";
import { currentRun } from "./run-scope.ts";

/**
 * A message that answers an earlier one goes on from there: the head moves under the run's lease, once. After a crash the
 * thread stands there already.
 */
export async function branchAtParent(
  storage: Storage,
  { claimed: { session }, lease, log }: RunWork,
  input: RunInput,
): Promise<void> {
  if (input.kind !== "message" || input.parent_id === undefined) return;
  const message = await storage.getMessage(input.message_id, { session_id: session.id });
  if (message?.checkpoint_id) return; // the state holds it: an earlier attempt came so far
  const place = await afterMessage(storage, session, input.parent_id);
  const head = await findHead(storage, session);
  if (place.checkpoint_id === null || place.checkpoint_id === head?.checkpoint_id) return;
  const { mode } = await modeAfter(storage, session, head?.checkpoint_id, place.checkpoint_id);
  // First: whoever goes on after a crash between the two plans, too.
  if (mode) await storage.updateSession(session.id, { mode });
  if (mode) currentRun().mode = mode;
  const moved = await storage.timeline.branchThread(lease, place.checkpoint_id);
  // Whoever follows the conversation still has what came after that message.
  log.emit("head_moved", { head: moved, previous_head: head?.checkpoint_id ?? null });
}

/**
 * Half an answer is none to go on from, and Anthropic takes no conversation that ends with one: the model answers anew, as it does
 * after a crash. What was cut off stays on its branch.
 */
export async function branchBeforeCutAnswer(storage: Storage, { claimed, lease, log }: RunWork): Promise<void> {
  const { resumes } = claimed.run;
  const found = resumes === null ? undefined : await findCutAnswer(storage, claimed.session, resumes);
  if (!found) return;
  const head = await storage.timeline.branchThread(lease, found.before);
  log.emit("head_moved", { head, previous_head: found.cut });
}
