/**
 * What `search({ query })` means here: the query's words, in any case, are looked for in the value's strings at every
 * depth. The score is the share of the words that were found, so 1 is all of them; a value with none is left out.
 * There is no vector index, so `index` of a put has no effect on it.
 */
export type TextScore = (value: unknown) => number;

/** Undefined if the query has no words at all: then it restricts nothing. */
export function parseQuery(query: string | undefined): TextScore | undefined {
  const words = [...new Set(fold(query ?? "").match(/[\p{L}\p{N}\p{M}]+/gu))];
  if (words.length === 0) return undefined;
  return (value) => {
    const text = [...strings(value)].map(fold).join("\n");
    return words.filter((word) => text.includes(word)).length / words.length;
  };
}

function fold(text: string): string {
  return text.normalize("NFKC").toLowerCase();
}

function* strings(value: unknown): Generator<string> {
  if (typeof value === "string") yield value;
  else if (typeof value === "object" && value !== null)
    for (const member of Object.values(value)) yield* strings(member);
}
