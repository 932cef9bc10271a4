import { createHash } from "node:crypto";
import { isJsonObject } from "@cognition/contract";
import type { AgentDefinition, ResolvedAgent } from "./agent-definition.ts";

/** The same for equal values, whatever the order of their keys. */
function hashOf(value: unknown): string {
  return createHash("sha256").update(JSON.stringify(value, sortKeys)).digest("hex");
}

function sortKeys(_key: string, value: unknown): unknown {
  if (!isJsonObject(value)) return value;
  return Object.fromEntries(Object.entries(value).sort(([a], [b]) => (a < b ? -1 : 1)));
}

export function definitionHash(definition: AgentDefinition): string {
  return hashOf(definition);
}

/** Covers the agents it may delegate to: a change of a subagent's prompt is a change of what the agent does. */
export function withRevision(agent: Omit<ResolvedAgent, "revision">): ResolvedAgent {
  return { revision: hashOf(agent), ...agent };
}
