import type { CallbackManagerForLLMRun } from "@langchain/core/callbacks/manager";
import type { BaseLanguageModelInput } from "@langchain/core/language_models/base";
import {
  BaseChatModel,
  type BaseChatModelCallOptions,
  type BindToolsInput,
} from "@langchain/core/language_models/chat_models";
import type { AIMessageChunk, BaseMessage } from "@langchain/core/messages";
import type { ChatGenerationChunk, ChatResult } from "@langchain/core/outputs";
import type { Runnable } from "@langchain/core/runnables";

/** A chat model that is a stream: a whole answer is its chunks put together, and tools are among its call's options. */
export abstract class StreamedModel<CallOptions extends BaseChatModelCallOptions> extends BaseChatModel<CallOptions> {
  abstract override _streamResponseChunks(
    messages: BaseMessage[],
    options: this["ParsedCallOptions"],
    runManager?: CallbackManagerForLLMRun,
  ): AsyncGenerator<ChatGenerationChunk>;

  override async _generate(messages: BaseMessage[], options: this["ParsedCallOptions"]): Promise<ChatResult> {
    let whole: ChatGenerationChunk | undefined;
    for await (const chunk of this._streamResponseChunks(messages, options)) {
      whole = whole ? whole.concat(chunk) : chunk;
    }
    return { generations: whole ? [whole] : [] };
  }

  override bindTools(
    tools: BindToolsInput[],
    kwargs?: Partial<CallOptions>,
  ): Runnable<BaseLanguageModelInput, AIMessageChunk, CallOptions> {
    return this.withConfig({ ...kwargs, tools } as unknown as Partial<CallOptions>);
  }

  /** LangChain's own, with the model made to use the tool: that method binds it and hopes, and an answer in prose is an error then. */
  override withStructuredOutput: BaseChatModel["withStructuredOutput"] = (...args: unknown[]) => {
    const bindTools = (tools: BindToolsInput[]) => this.bindTools(tools, { tool_choice: nameOf(tools[0]) } as object);
    const forced = Object.create(this, { bindTools: { value: bindTools } });
    return BaseChatModel.prototype.withStructuredOutput.apply(forced, args as never);
  };
}

function nameOf(tool: BindToolsInput | undefined): string {
  return (tool as { function: { name: string } }).function.name;
}
