import { AppError } from "@cognition/contract";
import type { AgentDefinition } from "./agent-definition.ts";

/**
 * The tools an agent gets, in the order of its definition; all of them for `null`. Throws `unknown_tool` for one that is
 * not there now, because its file was removed or its MCP server does not answer: an agent that silently lacks a tool would
 * look for other ways.
 */
export function toolsOf<T extends { readonly name: string }>(
  { name: agent, tools }: Pick<AgentDefinition, "name" | "tools">,
  all: readonly T[],
): T[] {
  if (tools === null) return [...all];
  const byName = new Map(all.map((tool) => [tool.name, tool]));
  return [...new Set(tools)].map((name) => {
    const tool = byName.get(name);
    if (tool) return tool;
    const message = `agent ${agent} needs the tool ${name}, which is not there now. Look at the server's health for what is wrong with it.`;
    throw new AppError("unknown_tool", message, { details: { agent, tool: name } });
  });
}
