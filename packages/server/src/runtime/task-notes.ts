import { AppError } from "@cognition/contract";
import { type TaskStore, workspaceChanges } from "@cognition/thread";
import { z } from "zod";
import { defineTool } from "../tool/define-tool.ts";
import type { ToolDefinition } from "../tool/tool.ts";
import { currentRun } from "./run-scope.ts";

export const TASK_NOTES = ["note_insight", "note_fact"] as const;

const MAX_TEXT = 2_000;
const INSIGHT = z.object({ insight: z.string().trim().min(1).max(MAX_TEXT) });
const FACT = z.object({ key: z.string().trim().min(1).max(200), value: z.string().min(1).max(MAX_TEXT) });

/** What an agent has found out for the task that its session works on; in the prompt of every run of it from then on. */
export function createTaskNotes(tasks: Pick<TaskStore, "changeTask">): ToolDefinition[] {
  const [insight, fact] = TASK_NOTES;
  return [
    defineTool({
      name: insight,
      description: "Notes down an insight for the task at hand. The newest ten are kept.",
      schema: INSIGHT,
      on_crash: "retry",
      effect: "write",
      run: async (args) => {
        await tasks.changeTask(currentTask(), [{ workspace: workspaceChanges.addInsight(args.insight) }]);
        return "Noted.";
      },
    }) as ToolDefinition,
    defineTool({
      name: fact,
      description: "Notes down a fact for the task at hand, under a short key. The same key again replaces it.",
      schema: FACT,
      on_crash: "retry",
      effect: "write",
      run: async ({ key, value }) => {
        await tasks.changeTask(currentTask(), [{ workspace: workspaceChanges.learnFact(key, value) }]);
        return "Noted.";
      },
    }) as ToolDefinition,
  ];
}

function currentTask() {
  const { task } = currentRun();
  if (task) return task;
  throw new AppError("task_not_found", "This session works on no task: there is no workspace to note it in.");
}
