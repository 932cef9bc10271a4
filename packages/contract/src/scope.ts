import { z } from "zod";
import { smallRecord } from "./json.ts";
import { MAX_SCOPE_KEY_LENGTH, MAX_SCOPE_KEYS, MAX_SCOPE_VALUE_LENGTH } from "./limits.ts";
import { text } from "./text.ts";

/** Lower case with `_`: a header's name keeps neither case nor underscores. */
export const ScopeKey = z
  .string()
  .max(MAX_SCOPE_KEY_LENGTH, { error: `scope key is longer than the limit of ${MAX_SCOPE_KEY_LENGTH} characters` })
  .regex(/^[a-z][a-z0-9]*(_[a-z0-9]+)*$/, { error: "scope key must be lower case letters, digits and single _" });
export type ScopeKey = z.infer<typeof ScopeKey>;

export const Scope = smallRecord(
  "scope",
  MAX_SCOPE_KEYS,
  "keys",
  z.record(ScopeKey, text("scope value", MAX_SCOPE_VALUE_LENGTH, 1)),
);
export type Scope = z.infer<typeof Scope>;

export { scopeHeader } from "./scope-header.ts";

const PREFIX = "x-cognition-scope-";

/** The scope key that a header carries, or undefined if it is another header. */
export function findScopeKey(header: string): ScopeKey | undefined {
  const name = header.toLowerCase();
  return name.startsWith(PREFIX) ? name.slice(PREFIX.length).replaceAll("-", "_") : undefined;
}
