import { AppError } from "@cognition/contract";
import { BaseMessage } from "@langchain/core/messages";

/**
 * A value as an event can carry it: messages with their role and text, bytes in base64, maps as objects, bigints as text.
 * What has no such form (a cycle) is refused, before it could stop the log.
 */
export function jsonCopy(value: unknown, what: string): unknown {
  try {
    const json = JSON.stringify(value, plain);
    return json === undefined ? undefined : JSON.parse(json);
  } catch (cause) {
    const message = `${what} can't be told as an event: ${(cause as Error).message}`;
    throw new AppError("unserializable_value", message, { cause });
  }
}

// `this` holds the value as it is: what arrives here has been through its own toJSON.
function plain(this: Record<string, unknown>, key: string, value: unknown): unknown {
  const raw = this[key];
  if (typeof raw === "bigint") return raw.toString();
  if (raw instanceof Map) return Object.fromEntries(raw);
  if (raw instanceof Set) return [...raw];
  if (raw instanceof Uint8Array) return Buffer.from(raw).toString("base64");
  if (BaseMessage.isInstance(raw)) return { id: raw.id, type: raw.getType(), content: raw.content };
  return value;
}
