import { AIMessage, type BaseMessage, HumanMessage, SystemMessage, ToolMessage } from "@langchain/core/messages";
import { OfflineModel } from "../../../src/model/offline/offline-model.ts";

export interface AskOptions {
  readonly tools?: readonly object[];
  readonly system?: string;
  readonly earlier?: readonly string[];
  /** What the tools return, in the order in which they are called. */
  readonly returns?: readonly (string | { readonly error: string })[];
}

export interface Asked {
  readonly calls: readonly { readonly name: string; readonly args: unknown }[];
  readonly text: string;
}

const MAX_CALLS = 30;

/** Lets the model work a request off, with tools that return what the test says, until it answers in words. */
export async function ask(
  request: string,
  { tools = [], system, earlier = [], returns = [] }: AskOptions = {},
): Promise<Asked> {
  const model = new OfflineModel().bindTools([...tools]);
  const messages: BaseMessage[] = [
    ...(system ? [new SystemMessage(system)] : []),
    ...earlier.flatMap((said) => [new HumanMessage(said), new AIMessage("Yes.")]),
    new HumanMessage(request),
  ];
  const calls: { name: string; args: unknown }[] = [];
  while (calls.length < MAX_CALLS) {
    const reply = await model.invoke(messages);
    const call = reply.tool_calls?.[0];
    if (!call) return { calls, text: reply.text };
    const result = returns[calls.length] ?? "ok";
    calls.push({ name: call.name, args: call.args });
    const failed = typeof result !== "string";
    messages.push(
      new AIMessage({ content: reply.text, tool_calls: [call] }),
      new ToolMessage({
        tool_call_id: call.id ?? "",
        content: failed ? result.error : result,
        status: failed ? "error" : "success",
      }),
    );
  }
  throw new Error(`still calling tools after ${MAX_CALLS} calls: ${JSON.stringify(calls.slice(-2))}`);
}
