import { AppError } from "@cognition/contract";
import type { AgentMiddleware } from "langchain";
import type { AgentDefinition } from "../agent/agent-definition.ts";
import { loadExport } from "../file/load-export.ts";
import type { RunContext } from "../tool/tool.ts";
import { runContext } from "./run-context.ts";

/** The agent that a middleware is made for. One agent's may serve many runs at once. */
export interface MiddlewareAgent {
  readonly name: string;
  /** Of the run that the code at hand works for; asked for in a hook, not when the middleware is made. */
  context(): RunContext;
}

/** Makes LangChain's middleware for an agent that names it. */
export type NamedMiddleware = (agent: MiddlewareAgent) => AgentMiddleware;

/** A maker, or where a module exports one: `./middleware/audit.ts#audit`. */
export type MiddlewareSource = string | NamedMiddleware;

/** Loads them all; one that is wrong stops the start, by its name. */
export async function loadMiddleware(
  sources: Readonly<Record<string, MiddlewareSource>>,
  root: string,
): Promise<ReadonlyMap<string, NamedMiddleware>> {
  const loaded = new Map<string, NamedMiddleware>();
  for (const [name, source] of Object.entries(sources)) {
    const value = typeof source === "string" ? await loadExport(root, source, `middleware ${name}`) : source;
    if (typeof value !== "function") {
      const message = `the middleware ${name} is not a function that makes one, but a ${typeof value}`;
      throw new AppError("invalid_config", message, { details: { middleware: name } });
    }
    loaded.set(name, value as NamedMiddleware);
  }
  return loaded;
}

/** Those that an agent names, in its order, the first one outermost. */
export function middlewareFor(
  { name: agent_name, middleware }: AgentDefinition,
  known: ReadonlyMap<string, NamedMiddleware>,
): AgentMiddleware[] {
  return [...new Set(middleware)].map((name) => {
    const make = known.get(name);
    if (!make) {
      const message = `The agent ${agent_name} names the middleware ${name}, which is not registered any more; the session is kept. Register it again, or correct the definition.`;
      throw new AppError("invalid_config", message, { details: { agent: agent_name, middleware: name } });
    }
    const made = make({ name: agent_name, context: () => runContext(agent_name) });
    // A name of its own: one of the engine's own middleware would be replaced by another of the same name.
    return { ...made, name: `named-${name}` };
  });
}
