import { createHash } from "node:crypto";
import { isJsonObject } from "@cognition/contract";

/** The same for equal values, whatever the order of their keys. */
export function contentHash(value: unknown): string {
  return createHash("sha256").update(JSON.stringify(value, sortKeys)).digest("hex");
}

function sortKeys(_key: string, value: unknown): unknown {
  if (!isJsonObject(value)) return value;
  return Object.fromEntries(Object.entries(value).sort(([a], [b]) => (a < b ? -1 : 1)));
}
