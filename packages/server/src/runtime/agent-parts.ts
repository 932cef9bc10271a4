import { EVERY, type Skill } from "@cognition/contract";
import type { RunSession, Storage } from "@cognition/thread";
import type { AgentDefinition, ApprovalRule } from "../agent/agent-definition.ts";
import { approvalRules } from "../agent/approval-rules.ts";
import type { SkillFiles } from "../agent/skill-files.ts";
import { PRESENT_PLAN } from "../tool/present-plan.ts";
import type { RegisteredTool, ToolDefinition, ToolSummary } from "../tool/tool.ts";
import type { AgentParts } from "./agent-graph.ts";
import { type ContextParts, toGraphTool } from "./graph-tool.ts";
import { middlewareFor, type NamedMiddleware } from "./named-middleware.ts";
import { createPlanTool, PLAN_APPROVAL } from "./plan-mode.ts";
import { createResponseTool } from "./response-tool.ts";
import { createSkillTool } from "./skill-tool.ts";
import { createTaskNotes } from "./task-notes.ts";
import { toolRules } from "./tool-rules.ts";

/** What all agents of one graph have in common. */
export interface SharedParts {
  storage: Pick<Storage, "tasks" | "updateSession">;
  session: RunSession;
  tools: readonly RegisteredTool[];
  known: ReadonlyMap<string, ToolSummary>;
  skills: readonly Skill[];
  skillFiles: Pick<SkillFiles, "read" | "list">;
  contextParts: ContextParts;
  middleware: ReadonlyMap<string, NamedMiddleware>;
}

/** Makes the parts of one agent: its own tools, rules and prompt. The session's own agent also plans and takes notes. */
export function agentParts(shared: SharedParts, agent: AgentDefinition, isRoot: boolean): AgentParts {
  const { session, contextParts } = shared;
  const skills = skillsOf(agent, shared.skills);
  const own = ownTools(shared, skills, isRoot);
  const graphTools = [...shared.tools, ...own].map((tool) => toGraphTool(tool, contextParts));
  const response = agent.response_format ? [createResponseTool(agent.response_format)] : [];
  return {
    prompt: (isRoot ? session.config.system_prompt : undefined) ?? agent.system_prompt,
    tools: [...graphTools, ...response.map((tool) => toGraphTool(tool, contextParts, { endsTurn: true }))],
    skills,
    refusal: toolRules(agent, shared.known),
    approvals: approvalsOf(agent),
    middleware: middlewareFor(agent, shared.middleware),
  };
}

function ownTools({ storage, skillFiles }: SharedParts, skills: readonly Skill[], isRoot: boolean): ToolDefinition[] {
  const skill = skills.length > 0 ? [createSkillTool(skills, skillFiles)] : [];
  if (!isRoot) return skill;
  const plan = createPlanTool((session_id, mode) => storage.updateSession(session_id, { mode }));
  return [...skill, plan, ...createTaskNotes(storage.tasks)];
}

function skillsOf({ skills }: AgentDefinition, all: readonly Skill[]): readonly Skill[] {
  return skills.includes(EVERY) ? all : all.filter(({ name }) => skills.includes(name));
}

function approvalsOf({ interrupt_on }: AgentDefinition): Readonly<Record<string, ApprovalRule>> {
  return { ...Object.fromEntries(approvalRules(interrupt_on)), [PRESENT_PLAN]: PLAN_APPROVAL };
}
