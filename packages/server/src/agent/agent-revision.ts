import { contentHash } from "../definition/content-hash.ts";
import type { AgentDefinition, ResolvedAgent } from "./agent-definition.ts";

export function definitionHash(definition: AgentDefinition): string {
  return contentHash(definition);
}

/** Covers the agents it may delegate to: a change of a subagent's prompt is a change of what the agent does. */
export function withRevision(agent: Omit<ResolvedAgent, "revision">): ResolvedAgent {
  return { revision: contentHash(agent), ...agent };
}
