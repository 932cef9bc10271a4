import type { AIMessage } from "@langchain/core/messages";
import { createMiddleware } from "langchain";
import type { ToolRefusal } from "./tool-rules.ts";

/**
 * Shows the model only the tools that its agent may use now, those of the runtime (files, commands, delegation) included.
 * A call of another one is denied all the same, by the journal.
 */
export function createToolGate(refusal: ToolRefusal) {
  return createMiddleware({
    name: "tool-gate",
    wrapModelCall: async (request, handler) => {
      const tools = request.tools.filter((tool) => {
        const { name } = tool as { name?: string };
        return name === undefined || refusal(name) === undefined;
      });
      const answer = await handler({ ...request, tools });
      return answer as AIMessage;
    },
  });
}
