import type { Scope } from "@cognition/contract";

/** Two to the power of it are the scopes that one lookup asks for. */
const MAX_FREE_KEYS = 6;

/**
 * The scopes whose definitions a caller sees, most specific first: its own, then those with one key less, and so on to the
 * empty one, which is everybody's. Among scopes of equal size the one that keeps the caller's earlier keys comes first.
 * With more than six keys only those made by leaving out from the end.
 */
export function scopeChain(scope: Scope = {}): Scope[] {
  const pairs = Object.entries(scope);
  const subsets = pairs.length > MAX_FREE_KEYS ? prefixes(pairs) : everySubset(pairs);
  return subsets.map((subset) => Object.fromEntries(subset));
}

type Pair = [string, string];

function prefixes(pairs: Pair[]): Pair[][] {
  return [...pairs.map((_, index) => pairs.slice(0, pairs.length - index)), []];
}

function everySubset(pairs: Pair[]): Pair[][] {
  const subsets = Array.from({ length: 2 ** pairs.length }, (_, bits) => ({
    // The first key is the highest bit, so that of two subsets the one that keeps it has the higher number.
    order: bits,
    pairs: pairs.filter((_pair, index) => (bits >> (pairs.length - 1 - index)) & 1),
  }));
  return subsets.sort((a, b) => b.pairs.length - a.pairs.length || b.order - a.order).map((subset) => subset.pairs);
}
