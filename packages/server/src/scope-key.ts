import type { Scope } from "@cognition/contract";

/** The same for the same scope, in whatever order its keys come; and for whoever has none, the same. */
export function scopeKey(scope: Scope | undefined): string {
  return scope === undefined ? "" : JSON.stringify(Object.entries(scope).sort(([a], [b]) => (a < b ? -1 : 1)));
}
