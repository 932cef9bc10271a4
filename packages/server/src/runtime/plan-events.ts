import type { PlanItem } from "@cognition/contract";
import { ToolMessage } from "@langchain/core/messages";
import { createMiddleware } from "langchain";
import { currentRun } from "./run-scope.ts";
import { WRITE_TODOS } from "./todos.ts";

/** Tells the log when the agent's plan changed, and which of its steps were finished by it. */
export function createPlanMiddleware() {
  return createMiddleware({
    name: "plan-events",
    wrapToolCall: async (request, handler) => {
      const result = await handler(request);
      const isRefused = ToolMessage.isInstance(result) && result.status === "error";
      if (request.toolCall.name === WRITE_TODOS && !isRefused) {
        const { todos } = request.state as { todos?: unknown };
        tellPlan(itemsOf(todos), itemsOf((request.toolCall.args as { todos?: unknown }).todos));
      }
      return result;
    },
  });
}

function tellPlan(before: readonly PlanItem[], items: readonly PlanItem[]): void {
  const scope = currentRun();
  const { log } = scope.work;
  log.emit("planning", { todos: items.map(({ content }) => content), items });
  // What a tool is shown of the state may be older than the last change of the plan.
  const done = new Set([...before, ...scope.plan].filter(isDone).map(({ content }) => content));
  scope.plan = items;
  items.forEach((item, index) => {
    if (!isDone(item) || done.has(item.content)) return;
    log.emit("step_complete", { step_number: index + 1, total_steps: items.length, description: item.content });
  });
}

function isDone({ status }: PlanItem): boolean {
  return status === "completed";
}

function itemsOf(todos: unknown): PlanItem[] {
  if (!Array.isArray(todos)) return [];
  return todos.map(({ content, status }) => ({ content: String(content), status: status ?? "pending" }));
}
