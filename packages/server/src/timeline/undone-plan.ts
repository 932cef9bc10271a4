import type { Message, Session } from "@cognition/contract";
import type { Storage } from "@cognition/thread";
import { APPROVED, PRESENT_PLAN } from "../tool/present-plan.ts";

/**
 * The mode of a session that goes from one checkpoint to another: it plans again where the approval is undone by which it
 * began to work. Going back there, it is not made to work: that is for whoever reads the plan then.
 */
export async function modeAfter(
  { timeline }: Pick<Storage, "timeline">,
  { id, mode }: Pick<Session, "id" | "mode">,
  from: string | undefined,
  to: string | null,
): Promise<{ mode?: "plan" }> {
  if (mode === "plan" || from === undefined) return {};
  const approved = approvals(await timeline.messagesAt(id, from));
  if (approved.length === 0) return {};
  const kept = new Set(to === null ? [] : approvals(await timeline.messagesAt(id, to)));
  return approved.every((message_id) => kept.has(message_id)) ? {} : { mode: "plan" };
}

function approvals(messages: readonly Message[]): string[] {
  const plans = new Set<string | null>();
  return messages.flatMap((message) => {
    for (const { id, name } of message.tool_calls) if (name === PRESENT_PLAN) plans.add(id);
    const { content, tool_call_id } = message;
    return plans.has(tool_call_id) && String(content).startsWith(APPROVED) ? message.id : [];
  });
}
