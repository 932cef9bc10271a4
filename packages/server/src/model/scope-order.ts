import type { Scope } from "@cognition/contract";
import type { ProviderDefinition } from "./provider-definition.ts";

/**
 * The providers that a scope sees, in the order in which they are tried: from the most specific scope outward, within one
 * by priority, then by id. Of two with the same id the more specific one hides the other.
 */
export function visibleProviders(
  providers: readonly ProviderDefinition[],
  scope: Scope = {},
): readonly ProviderDefinition[] {
  const inScope = providers.filter((provider) => isWithin(provider.scope, scope)).sort(compare);
  const seen = new Set<string>();
  return inScope.filter(({ id }) => {
    if (seen.has(id)) return false;
    seen.add(id);
    return true;
  });
}

function isWithin(outer: Readonly<Record<string, string>>, scope: Scope): boolean {
  return Object.entries(outer).every(([key, value]) => scope[key] === value);
}

function compare(a: ProviderDefinition, b: ProviderDefinition): number {
  const specific = Object.keys(b.scope).length - Object.keys(a.scope).length;
  return specific || a.priority - b.priority || compareText(a.id, b.id);
}

function compareText(a: string, b: string): number {
  return a < b ? -1 : a > b ? 1 : 0;
}
