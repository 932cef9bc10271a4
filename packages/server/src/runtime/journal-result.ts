import { deserialize, serialize } from "@cognition/thread";
import { ToolMessage } from "@langchain/core/messages";
import { Command, isCommand } from "@langchain/langgraph";

interface Recorded {
  result: ToolMessage | Command;
  exit_code: number | null;
  /** What the tool threw, where that was for a user's own graph to deal with. */
  thrown?: string;
}

/** The journal keeps JSON; the strict serializer keeps what a message or a state change really is. */
export function packResult(result: ToolMessage | Command, exit_code: number | null, thrown?: string): unknown {
  const kept = isCommand(result) ? { update: result.update, goto: result.goto } : result;
  const value = Buffer.from(serialize(kept, "The result of a tool")).toString("utf8");
  return { kind: isCommand(result) ? "command" : "message", exit_code, value, ...(thrown !== undefined && { thrown }) };
}

export function unpackResult(recorded: unknown): Recorded {
  const { kind, value, ...rest } = recorded as Omit<Recorded, "result"> & { kind: string; value: string };
  const kept = deserialize(Buffer.from(value, "utf8"), "The recorded result of a tool");
  if (kind === "command") return { result: new Command(kept as ConstructorParameters<typeof Command>[0]), ...rest };
  return { result: kept as ToolMessage, ...rest };
}

/** What the model reads of a result. A tool may answer with a change of the state, which holds the message. */
export function messageIn(result: ToolMessage | Command): ToolMessage | undefined {
  if (!isCommand(result)) return result;
  const { messages } = (result.update ?? {}) as { messages?: unknown };
  if (!Array.isArray(messages)) return undefined;
  return messages.findLast((message): message is ToolMessage => ToolMessage.isInstance(message));
}
