import type { BaseChatModel, BindToolsInput } from "@langchain/core/language_models/chat_models";

/**
 * LangChain's own `withStructuredOutput`, with the model made to use the tool. That method binds the tool and hopes; an
 * answer in prose is an error then.
 */
export function withForcedTool<T>(model: BaseChatModel, build: (...args: never[]) => T, args: unknown[]): T {
  const forced = Object.create(model, {
    bindTools: { value: (tools: BindToolsInput[]) => model.bindTools?.(tools, { tool_choice: nameOf(tools[0]) }) },
  });
  return build.apply(forced, args as never[]);
}

function nameOf(tool: BindToolsInput | undefined): string {
  return (tool as { function: { name: string } }).function.name;
}
