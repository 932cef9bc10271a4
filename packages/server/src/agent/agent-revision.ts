import { contentHash } from "../definition/content-hash.ts";
import type { AgentDefinition, ResolvedAgent } from "./agent-definition.ts";

export function definitionHash(definition: AgentDefinition): string {
  return contentHash(definition);
}

/** Every message asks for its agent's revision; the same text has the same one. */
const REVISIONS_KNOWN = 100;
const known = new Map<string, string>();

/** Covers the agents it may delegate to: a change of a subagent's prompt is a change of what the agent does. */
export function withRevision(agent: Omit<ResolvedAgent, "revision">): ResolvedAgent {
  const text = JSON.stringify(agent);
  let revision = known.get(text);
  if (revision === undefined) {
    revision = contentHash(agent);
    if (known.size >= REVISIONS_KNOWN) known.clear();
    known.set(text, revision);
  }
  return { revision, ...agent };
}
