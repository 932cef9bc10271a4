import type { Completion, Content, Run } from "@cognition/contract";
import type { ClaimedRun, NewDelivery } from "@cognition/thread";
import type { LeftAs } from "../run/run-end.ts";

const STATUS = { succeeded: "done", failed: "error", aborted: "aborted", waiting: "waiting" } as const;

/** The outbox row that a run owes to whoever asked to be told; nothing where nobody did. */
export function createDeliveryOf({ now }: { now: () => Date }) {
  return ({ run, callback_url }: Pick<ClaimedRun, "run" | "callback_url">, left: LeftAs): NewDelivery | undefined =>
    callback_url === null ? undefined : { url: callback_url, payload: completionOf(run, left, now()) };
}

function completionOf(run: Run, left: LeftAs, now: Date): Completion {
  const assistant = left.status === "waiting" ? null : left.assistant;
  const error = left.status === "waiting" ? undefined : left.error;
  const { input_tokens = 0, output_tokens = 0, model = null } = left.usage ?? {};
  return {
    session_id: run.session_id,
    message_id: assistant?.id ?? null,
    status: STATUS[left.status],
    output: assistant ? textOf(assistant.content) : null,
    token_usage: { input: input_tokens, output: output_tokens },
    model_used: assistant?.model_used ?? model,
    completed_at: now.toISOString(),
    ...(error ? { error } : {}),
  };
}

function textOf(content: Content): string {
  if (typeof content === "string") return content;
  return content.map(({ type, text }) => (type === "text" && typeof text === "string" ? text : "")).join("");
}
