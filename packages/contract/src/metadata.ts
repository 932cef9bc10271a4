import { z } from "zod";
import { isJsonObject, smallRecord } from "./json.ts";
import { MAX_METADATA_ENTRIES, MAX_METADATA_KEY_LENGTH, MAX_METADATA_VALUE_LENGTH } from "./limits.ts";
import { text } from "./text.ts";

const entries = z.record(
  text("metadata key", MAX_METADATA_KEY_LENGTH, 1),
  text("metadata value", MAX_METADATA_VALUE_LENGTH),
);

/** Flat, string to string, never interpreted. Keys may hold dots, spaces and any other character. */
export const Metadata = smallRecord("metadata", MAX_METADATA_ENTRIES, "entries", entries);
export type Metadata = z.infer<typeof Metadata>;

const QUERY_PREFIX = "metadata.";

/** Gathers `metadata.<key>=<value>` of a query string; the key is all that follows the first dot, dots included. */
export function gatherMetadata(query: unknown): unknown {
  if (!isJsonObject(query)) return query;
  const predicates = Object.entries(query).filter(([name]) => name.startsWith(QUERY_PREFIX));
  if (predicates.length === 0) return query;
  const rest = Object.entries(query).filter(([name]) => !name.startsWith(QUERY_PREFIX));
  const metadata = Object.fromEntries(predicates.map(([name, value]) => [name.slice(QUERY_PREFIX.length), value]));
  return { ...Object.fromEntries(rest), metadata };
}
