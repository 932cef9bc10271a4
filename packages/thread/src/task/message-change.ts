import { Message, parseInput } from "@cognition/contract";
import { checkSerializable } from "../checkpoint/store-value.ts";
import type { NewMessage } from "../message-store.ts";
import { copyJson } from "./copy-json.ts";

const TaskMessage = Message.pick({
  id: true,
  role: true,
  content: true,
  metadata: true,
  tool_calls: true,
  tool_call_id: true,
}).partial({ id: true, metadata: true, tool_calls: true, tool_call_id: true });

/** A copy of what will be stored. What can't be stored is refused here, at the call, and not when the queue gets to it. */
export function checkMessage(message: Omit<NewMessage, "session_id">): Omit<NewMessage, "session_id"> {
  const given = Object.fromEntries(Object.entries(message).filter(([, value]) => value !== undefined));
  parseInput(TaskMessage, given, "message");
  checkSerializable(given, "message");
  return copyJson(given) as Omit<NewMessage, "session_id">;
}
