import type { AIMessage } from "@langchain/core/messages";
import { createMiddleware } from "langchain";
import { PLAN_PROMPT } from "./plan-mode.ts";
import { currentRun } from "./run-scope.ts";

/** What the prompt says of this run: who it is for, and that nothing may be changed yet. The graph serves other runs too. */
export function createPromptMiddleware() {
  return createMiddleware({
    name: "run-prompt",
    wrapModelCall: async (request, handler) => {
      const { mode, about_user } = currentRun();
      const parts = [about_user, ...(mode === "plan" ? [PLAN_PROMPT] : [])].filter((part) => part !== "");
      if (parts.length === 0) return (await handler(request)) as AIMessage;
      const systemMessage = request.systemMessage.concat(`\n\n${parts.join("\n\n")}`);
      return (await handler({ ...request, systemMessage })) as AIMessage;
    },
  });
}
