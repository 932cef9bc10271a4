import type { Scope } from "@cognition/contract";

/** Scopes as one comparable text: the same keys and values give the same text, whatever their order was. */
export function scopeText(scopes: Scope = {}): string {
  return JSON.stringify(Object.fromEntries(Object.entries(scopes).sort(([a], [b]) => (a < b ? -1 : 1))));
}
