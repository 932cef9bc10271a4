import type { Scope } from "@cognition/contract";

/** For reads that may name a scope: undefined where none is named, and all is to be seen. */
export function scopeTextOf(scope: Scope | undefined): string | undefined {
  return scope === undefined ? undefined : scopeText(scope);
}

/** Scopes as one comparable text: the same keys and values give the same text, whatever their order was. */
export function scopeText(scopes: Scope = {}): string {
  return JSON.stringify(Object.fromEntries(Object.entries(scopes).sort(([a], [b]) => (a < b ? -1 : 1))));
}
