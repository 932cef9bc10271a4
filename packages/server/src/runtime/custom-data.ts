import { isJsonObject } from "@cognition/contract";
import type { RunWork } from "../run/executor.ts";
import { jsonCopy } from "./json-copy.ts";

/**
 * What a tool or a node writes for clients, as the data of its event: an object as it is, anything else as its `value`. Whose
 * run an event is of is not the writer's to say.
 */
export function customData(written: unknown, { claimed }: Pick<RunWork, "claimed">): Record<string, unknown> {
  const data = jsonCopy(written, "What was written to the stream");
  return isJsonObject(data) && readsAsEvent(data) ? { ...data, run_id: claimed.run_id } : { value: data };
}

/** Every event may have these, as texts. */
function readsAsEvent({ agent = "", message_id = "" }: Record<string, unknown>): boolean {
  return typeof agent === "string" && typeof message_id === "string";
}
