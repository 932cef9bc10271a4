import { createHash } from "node:crypto";
import { jsonText, storedJson } from "./json-text.ts";

/** PostgreSQL takes no more than 2,704 bytes into an index's entry, and the namespace needs its share. */
const LONGEST = 512;
const HASHED = "sha256:";

/**
 * A call's id as the journal's index has it. Some gateways put what a model wants to have back into the id of its call,
 * thousands of characters long: of such a one the index has the hash, and the row's arguments have the id beside them.
 */
export function indexedId(tool_call_id: string): string {
  if (Buffer.byteLength(tool_call_id) <= LONGEST) return tool_call_id;
  return `${HASHED}${createHash("sha256").update(tool_call_id).digest("hex")}`;
}

export function argsText(tool_call_id: string, args: unknown): string {
  return jsonText(indexedId(tool_call_id) === tool_call_id ? args : { tool_call_id, args }, "args");
}

interface Stored {
  tool_call_id: string;
  args: string;
}

/** What was told of the call. An id of our own making is longer than what anybody else would begin like it. */
export function toldCall(row: Stored): { tool_call_id: string; args: unknown } {
  const args = storedJson(row.args, `The args of tool call ${row.tool_call_id}`);
  const { tool_call_id } = (args ?? {}) as { tool_call_id?: unknown };
  const isHashed = row.tool_call_id.startsWith(HASHED) && typeof tool_call_id === "string";
  if (!isHashed || indexedId(tool_call_id) !== row.tool_call_id) return { tool_call_id: row.tool_call_id, args };
  return { tool_call_id, args: args.args };
}
