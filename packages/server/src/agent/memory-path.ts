import { isAbsolute, join, normalize, sep } from "node:path";
import { Uuid } from "@cognition/contract";
import type { AgentDefinition } from "./agent-definition.ts";

/** Read by every agent, if they are there. */
export const STANDARD_MEMORY = ["AGENTS.md", join(".cognition", "AGENTS.md")];

/**
 * Why an agent may not be told what is at this path below the workspace root; undefined where it may. Folders of sessions
 * are there, each of one scope; what is hidden is settings and keys, which whoever writes an agent's file has anyway, and
 * whoever sends one through the API has not.
 */
export function memoryFault(path: string, source: AgentDefinition["source"]): string | undefined {
  const way = normalize(path);
  const parts = way.split(sep);
  if (isAbsolute(way) || parts[0] === "..") return "must be a relative path inside the workspace";
  if (STANDARD_MEMORY.includes(way)) return undefined;
  if (Uuid.safeParse(parts[0]?.toLowerCase()).success) return "is in the folder of a session, and only that session's";
  const hidden = source === "api" && parts.some((part) => part.startsWith(".") && part !== ".");
  return hidden ? "is hidden; only an agent in a file of .cognition/agents may name such a one" : undefined;
}
