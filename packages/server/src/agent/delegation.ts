import { AppError, EVERY } from "@cognition/contract";
import { changesNothing, type ToolSummary } from "../tool/tool.ts";
import type { AgentDefinition, ResolvedAgent } from "./agent-definition.ts";
import { isConfined } from "./builtin-agents.ts";

/** The agents seen from one scope, and the tools there are. */
export interface DelegationView {
  readonly agents: ReadonlyMap<string, AgentDefinition>;
  readonly tools: ReadonlyMap<string, ToolSummary>;
}

/**
 * Whom an agent may reach. `*` is every agent that can be delegated to, itself excepted. A confined agent (`readonly`)
 * reaches only agents that can change nothing, neither themselves nor through others, over any number of steps.
 */
export function planDelegation(root: AgentDefinition, view: DelegationView): Omit<ResolvedAgent, "revision"> {
  const subagents: AgentDefinition[] = [];
  const delegates: Record<string, string[]> = {};
  const open = new Set<string>();

  function visit(agent: AgentDefinition): void {
    open.add(agent.name);
    // An agent that is still open is on the way here: delegating back to it would never end.
    const targets = allowedSubagents(agent, view).filter(({ name }) => !open.has(name));
    delegates[agent.name] = targets.map(({ name }) => name);
    for (const target of targets) {
      if (Object.hasOwn(delegates, target.name)) continue;
      subagents.push(target);
      visit(target);
    }
    open.delete(agent.name);
  }

  visit(root);
  return { definition: root, subagents, delegates };
}

/** Those an agent may delegate to directly. */
function allowedSubagents(agent: AgentDefinition, view: DelegationView): AgentDefinition[] {
  const named = namedSubagents(agent, view);
  return isConfined(agent) ? named.filter((target) => !canChange(target, view)) : named;
}

/** Whether an agent can write or execute, itself or through those it delegates to. */
export function canChange(agent: AgentDefinition, view: DelegationView): boolean {
  const seen = new Set<string>([agent.name]);
  const waiting = [agent];
  for (let next = waiting.pop(); next; next = waiting.pop()) {
    if (hasChangingTool(next, view)) return true;
    // What confines an agent also confines what can be reached through it.
    if (isConfined(next)) continue;
    for (const target of namedSubagents(next, view)) {
      if (seen.has(target.name)) continue;
      seen.add(target.name);
      waiting.push(target);
    }
  }
  return false;
}

function hasChangingTool(agent: AgentDefinition, { tools }: DelegationView): boolean {
  if (agent.tools === null) return [...tools.values()].some((tool) => !changesNothing(tool));
  // A tool of a server that has not answered yet may do anything.
  return agent.tools.some((name) => {
    const tool = tools.get(name);
    return !tool || !changesNothing(tool);
  });
}

/** Throws `unknown_agent` for an agent that names one it can't delegate to. */
export function requireSubagents(agent: AgentDefinition, { agents }: DelegationView): void {
  for (const name of agent.subagents) {
    const target = agents.get(name);
    if (name === EVERY || (target && target.mode !== "primary")) continue;
    const reason = target ? "can't be delegated to: its mode is primary" : "does not exist any more";
    const message = `agent ${agent.name} names the subagent ${name}, which ${reason}. Correct its definition.`;
    throw new AppError("unknown_agent", message, { details: { agent: agent.name, subagent: name } });
  }
}

// What is missing is left out here: an agent further down that names one which was deleted since must not take down those
// that reach it, above all not `default`, which reaches everybody.
function namedSubagents(agent: AgentDefinition, { agents }: DelegationView): AgentDefinition[] {
  const names = agent.subagents.includes(EVERY) ? everyName(agent, agents) : [...new Set(agent.subagents)];
  return names.flatMap((name) => {
    const target = agents.get(name);
    return target && target.mode !== "primary" ? [target] : [];
  });
}

function everyName(agent: AgentDefinition, agents: DelegationView["agents"]): string[] {
  const targets = [...agents.values()].filter(({ name, mode }) => mode !== "primary" && name !== agent.name);
  return targets.map(({ name }) => name).sort();
}
