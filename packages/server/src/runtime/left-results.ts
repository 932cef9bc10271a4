import { LEASE, type Storage } from "@cognition/thread";
import { type BaseMessage, ToolMessage } from "@langchain/core/messages";
import type { ToolCall } from "@langchain/core/messages/tool";
import type { CheckpointTuple } from "@langchain/langgraph-checkpoint";
import type { RunWork } from "../run/executor.ts";
import { closingResult, ownRecords } from "./settle-thread.ts";

/** The result of a call that the thread lacks one of. */
export type CloseCall = (call: ToolCall) => ToolMessage;

const MESSAGES = "messages";
/** Between the run that left them and the one that closes them may be some that were stopped before their model answered. */
const FAR = 50;

/**
 * For calls that an earlier run has left open, because it was ended while it waited: for a human beside calls that had come to
 * their end, or for another node. What those came to is pending where the message that made them was the last one, or in the
 * journal; the next input goes past it.
 */
export async function leftResults(
  storage: Pick<Storage, "getCheckpointer" | "listToolCalls">,
  work: Pick<RunWork, "claimed" | "lease">,
  caller: BaseMessage,
): Promise<CloseCall> {
  const tuple = await whereLast(storage, work, caller);
  const { run_id } = (tuple?.metadata ?? {}) as { run_id?: string };
  const records = ownRecords(run_id === undefined ? [] : await storage.listToolCalls(run_id));
  const pending = (tuple?.pendingWrites ?? []).flatMap(([, channel, value]) => (channel === MESSAGES ? value : []));
  const results = new Map(pending.filter((one) => ToolMessage.isInstance(one)).map((one) => [one.tool_call_id, one]));
  return ({ id = "", name }) => results.get(id) ?? closingResult(id, name, records.get(id));
}

/** The newest checkpoint of this branch that ends with the message. */
async function whereLast(
  storage: Pick<Storage, "getCheckpointer">,
  { claimed, lease }: Pick<RunWork, "claimed" | "lease">,
  { id }: BaseMessage,
): Promise<CheckpointTuple | undefined> {
  const saver = await storage.getCheckpointer();
  const { thread_id, run } = claimed;
  let checkpoint_id: string | null | undefined = run.checkpoint_id;
  for (let n = 0; n < FAR && checkpoint_id; n++) {
    const tuple = await saver.getTuple({ configurable: { thread_id, checkpoint_id, [LEASE]: lease } });
    const messages = tuple?.checkpoint.channel_values[MESSAGES] as BaseMessage[] | undefined;
    // That of an input does not hold it yet.
    if (messages?.at(-1)?.id === id && tuple?.metadata?.source !== "input") return tuple;
    checkpoint_id = tuple?.parentConfig?.configurable?.["checkpoint_id"];
  }
  return undefined;
}
