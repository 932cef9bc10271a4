import type { CallbackManagerForLLMRun } from "@langchain/core/callbacks/manager";
import { BaseChatModel } from "@langchain/core/language_models/chat_models";
import { AIMessage, type BaseMessage } from "@langchain/core/messages";
import type { ChatResult } from "@langchain/core/outputs";
import { tool } from "@langchain/core/tools";
import type { BaseCheckpointSaver } from "@langchain/langgraph-checkpoint";
import { createAgent } from "langchain";

/** Bytes of text in each message. */
const MESSAGE_BYTES = 450;

/** Answers at once: asks for the tool `steps` times, then ends. Notes the time of each call. */
class ScriptedModel extends BaseChatModel {
  readonly calls: number[] = [];
  readonly #steps: number;

  constructor(steps: number) {
    super({});
    this.#steps = steps;
  }

  override _llmType(): string {
    return "scripted";
  }

  override bindTools(): this {
    return this;
  }

  override async _generate(
    _messages: BaseMessage[],
    _options: this["ParsedCallOptions"],
    _run?: CallbackManagerForLLMRun,
  ): Promise<ChatResult> {
    this.calls.push(performance.now());
    const step = this.calls.length;
    const text = textOf("The model thinks", step);
    const call = { type: "tool_call" as const, id: `call_${step}`, name: "look_up", args: { step } };
    const message = new AIMessage({ content: text, tool_calls: step > this.#steps ? [] : [call] });
    return { generations: [{ text, message }] };
  }
}

/** One invocation of `steps` steps, each of one model call and one tool call. Gives the milliseconds of each step. */
export async function runAgent(
  checkpointer: BaseCheckpointSaver | undefined,
  thread_id: string,
  steps: number,
): Promise<number[]> {
  const model = new ScriptedModel(steps);
  const lookUp = tool(async ({ step }: { step: number }) => textOf("The tool found", step), {
    name: "look_up",
    description: "Looks something up",
    schema: { type: "object", properties: { step: { type: "number" } }, required: ["step"] },
  });
  const agent = createAgent({ model, tools: [lookUp], ...(checkpointer && { checkpointer }) });
  const { messages } = await agent.invoke(
    { messages: [{ role: "user", content: textOf("The user asks", 0) }] },
    { configurable: { thread_id }, durability: "sync", recursionLimit: 4 * steps + 100 },
  );
  if (messages.length !== messageCount(steps)) throw new Error(`The agent ended with ${messages.length} messages`);
  return model.calls.slice(1).map((time, i) => time - (model.calls[i] as number));
}

export function messageCount(steps: number): number {
  return 2 * steps + 2;
}

/** Different in every message, so that nobody gains by storing equal ones once. */
function textOf(who: string, step: number): string {
  let text = `${who}, in step ${step}: `;
  for (let seed = step + 1; text.length < MESSAGE_BYTES; ) {
    seed = (seed * 48_271) % 2_147_483_647;
    text += `${seed.toString(36)} `;
  }
  return text.slice(0, MESSAGE_BYTES);
}
