import { z } from "zod";
import type { ApprovalRule } from "../agent/agent-definition.ts";
import { defineTool } from "../tool/define-tool.ts";
import { APPROVED, PRESENT_PLAN } from "../tool/present-plan.ts";
import type { ToolDefinition } from "../tool/tool.ts";
import { currentRun } from "./run-scope.ts";

export const PLAN_PROMPT = `## Plan mode

This session is in plan mode: read, search and think, but change nothing. Tools that write or execute are denied. When you
know what is to be done, call \`${PRESENT_PLAN}\` with the whole plan; you can carry it out once the user has approved it.`;

/** The plan is what the user sees and decides on. */
export const PLAN_APPROVAL: ApprovalRule = {
  allowed_decisions: ["approve", "edit", "reject", "respond"],
  rejected: "The user did not approve the plan. The session stays in plan mode: ask what is missing, or plan anew.",
};

const SCHEMA = z.object({ plan: z.string().min(1).describe("Everything that is to be done, step by step") });

/** Runs once the plan was approved, which is what switches the session over. */
export function createPlanTool(setMode: (session_id: string, mode: "auto") => Promise<unknown>): ToolDefinition {
  return defineTool({
    name: PRESENT_PLAN,
    description: "Shows the user the plan and waits for the approval to carry it out. Ends plan mode.",
    schema: SCHEMA,
    on_crash: "retry",
    effect: "read",
    run: async ({ plan }, { session_id }) => {
      await setMode(session_id, "auto");
      currentRun().mode = "auto";
      return `${APPROVED} Carry it out now:\n\n${plan}`;
    },
  }) as ToolDefinition;
}

export function planRefusal(tool: string): string {
  return `${tool} is denied: the session is in plan mode, where nothing is written or executed. Call ${PRESENT_PLAN} with your plan to have it approved.`;
}
