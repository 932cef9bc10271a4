import { parseJson } from "./serializer.ts";

/**
 * The metadata of a subgraph's checkpoint name the root checkpoint that it is part of. With durability "exit" or "async"
 * LangGraph may put that one later, so their order says it only of a graph that waits for each.
 */
export function partOf(row: { checkpoint_id: string; metadata: string }): string | undefined {
  return allPartOf(row)[""];
}

/** In each namespace above its own. */
export function allPartOf({ checkpoint_id, metadata }: { checkpoint_id: string; metadata: string }) {
  const read = parseJson(metadata, `The metadata of checkpoint ${checkpoint_id}`);
  return (read as { parents?: Record<string, string> } | null)?.parents ?? {};
}

/** As it stands in the metadata of those that are part of the root checkpoint. */
export function partOfText(checkpoint_id: string): string {
  return `"":${JSON.stringify(checkpoint_id)}`;
}
