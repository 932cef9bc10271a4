import type { AgentDefinition } from "../agent/agent-definition.ts";
import { PRESENT_PLAN } from "../tool/present-plan.ts";
import { RUNTIME_TOOLS } from "../tool/runtime-tools.ts";
import { changesNothing, type ToolSummary } from "../tool/tool.ts";
import { DELEGATION } from "./earlier-calls.ts";
import { planRefusal } from "./plan-mode.ts";
import { RESPONSE_TOOL } from "./response-tool.ts";
import { currentRun } from "./run-scope.ts";
import { READ_SKILL } from "./skill-tool.ts";
import { TASK_NOTES } from "./task-notes.ts";
import { WRITE_TODOS } from "./todos.ts";

/** Says why an agent may not use a tool, or nothing if it may. Asked at every call, as a session's mode may change. */
export type ToolRefusal = (tool: string) => string | undefined;

/** An agent that lists its tools has these too, where they apply: it can't work without them. */
const ALWAYS = [WRITE_TODOS, DELEGATION, READ_SKILL, RESPONSE_TOOL, PRESENT_PLAN];
const OF_THE_RUNTIME: ReadonlySet<string> = new Set(RUNTIME_TOOLS.map(({ name }) => name));

export function toolRules(agent: AgentDefinition, known: ReadonlyMap<string, ToolSummary>): ToolRefusal {
  const listed = agent.tools === null ? undefined : new Set([...agent.tools, ...ALWAYS]);
  return (tool) => {
    if (listed && !listed.has(tool)) {
      return `The agent ${agent.name} may not use ${tool}. It has: ${[...listed].sort().join(", ")}.`;
    }
    if (OF_THE_RUNTIME.has(tool) && !known.has(tool)) return `${tool} is switched off on this server.`;
    return momentary(tool, known.get(tool));
  };
}

function momentary(tool: string, summary: ToolSummary | undefined): string | undefined {
  const { mode, task } = currentRun();
  if (mode === "plan" && !(summary && changesNothing(summary))) return planRefusal(tool);
  if (mode !== "plan" && tool === PRESENT_PLAN) return "The session is not in plan mode: do the work.";
  if (!task && (TASK_NOTES as readonly string[]).includes(tool)) return "This session works on no task.";
  return undefined;
}
