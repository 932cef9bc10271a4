import { isDeepStrictEqual } from "node:util";
import type { PlanItem } from "@cognition/contract";
import { ToolMessage } from "@langchain/core/messages";
import { createMiddleware } from "langchain";
import { about, type Caller } from "./journal-events.ts";
import { currentRun } from "./run-scope.ts";
import { WRITE_TODOS } from "./todos.ts";

/** Tells the log when an agent's plan changed, and which of its steps were finished by it. */
export function createPlanMiddleware(caller: Caller) {
  return createMiddleware({
    name: "plan-events",
    wrapToolCall: async (request, handler) => {
      const result = await handler(request);
      const isRefused = ToolMessage.isInstance(result) && result.status === "error";
      if (request.toolCall.name === WRITE_TODOS && !isRefused) {
        const { configurable = {} } = request.runtime as { configurable?: Record<string, unknown> };
        const { todos } = request.state as { todos?: unknown };
        const planner = plannerIn(String(configurable["checkpoint_ns"] ?? ""));
        tellPlan(caller, planner, itemsOf(todos), itemsOf((request.toolCall.args as { todos?: unknown }).todos));
      }
      return result;
    },
  });
}

/** The agent's namespace is that of its call without the call's own part. */
function plannerIn(checkpoint_ns: string): string {
  return checkpoint_ns.slice(0, Math.max(0, checkpoint_ns.lastIndexOf("|")));
}

function tellPlan(caller: Caller, planner: string, stored: readonly PlanItem[], items: readonly PlanItem[]): void {
  const { plans, work } = currentRun();
  // What a tool is shown of the state may be older than the last change of the plan.
  const before = plans.get(planner) ?? stored;
  if (isDeepStrictEqual(before, items)) return;
  plans.set(planner, items);
  work.log.emit("planning", { ...about(caller), todos: items.map(({ content }) => content), items });
  const doneBefore = before.filter(isDone).map(({ content }) => content);
  items.forEach((item, index) => {
    if (!isDone(item)) return;
    // Each only once: a plan may have two steps of the same words.
    const known = doneBefore.indexOf(item.content);
    if (known >= 0) doneBefore.splice(known, 1);
    else tellStep(index);
  });

  function tellStep(index: number): void {
    const step = { step_number: index + 1, total_steps: items.length, description: items[index]?.content };
    work.log.emit("step_complete", { ...about(caller), ...step });
  }
}

function isDone({ status }: PlanItem): boolean {
  return status === "completed";
}

function itemsOf(todos: unknown): PlanItem[] {
  if (!Array.isArray(todos)) return [];
  return todos.map(({ content, status }) => ({ content: String(content), status: status ?? "pending" }));
}
