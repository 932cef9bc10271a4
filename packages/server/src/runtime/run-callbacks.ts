import { BaseCallbackHandler, type CallbackHandlerMethods } from "@langchain/core/callbacks/base";

type Hooks<K extends keyof CallbackHandlerMethods> = Required<Pick<CallbackHandlerMethods, K>>;
type Args<K extends keyof CallbackHandlerMethods> = Parameters<NonNullable<CallbackHandlerMethods[K]>>;

export type ModelHooks = Hooks<"handleChatModelStart" | "handleLLMNewToken" | "handleLLMEnd" | "handleLLMError">;
export type ToolHooks = Hooks<"handleToolStart" | "handleToolEnd" | "handleToolError">;
export type ChainHooks = Hooks<"handleChainStart" | "handleChainEnd" | "handleChainError">;

export interface Listeners {
  /** In this order; LangChain goes on when all of them have done. */
  models: readonly ModelHooks[];
  tools?: ToolHooks | undefined;
  chains?: ChainHooks | undefined;
}

/**
 * Everything a run hears from LangChain, in one handler of one class: LangChain copies its list of handlers and asks each
 * of them at every node and every token, and a class made anew for each run would be compiled anew for each run.
 */
export class RunCallbacks extends BaseCallbackHandler {
  readonly name = "cognition";
  override awaitHandlers = true;
  /** Without it LangChain asks the model for its whole answer at once, unless somebody reads the graph's stream. */
  readonly lc_prefer_streaming = true;
  readonly #listeners: Listeners;

  constructor(listeners: Listeners) {
    super({
      ignoreAgent: !listeners.tools,
      ignoreChain: !listeners.chains,
      ignoreRetriever: true,
      ignoreCustomEvent: true,
    });
    this.#listeners = listeners;
  }

  override copy(): RunCallbacks {
    return new RunCallbacks(this.#listeners);
  }

  override handleChatModelStart(...args: Args<"handleChatModelStart">) {
    return this.#models((one) => one.handleChatModelStart(...args));
  }

  override handleLLMNewToken(...args: Args<"handleLLMNewToken">) {
    return this.#models((one) => one.handleLLMNewToken(...args));
  }

  override handleLLMEnd(...args: Args<"handleLLMEnd">) {
    return this.#models((one) => one.handleLLMEnd(...args));
  }

  override handleLLMError(...args: Args<"handleLLMError">) {
    return this.#models((one) => one.handleLLMError(...args));
  }

  override handleToolStart(...args: Args<"handleToolStart">) {
    return this.#listeners.tools?.handleToolStart(...args);
  }

  override handleToolEnd(...args: Args<"handleToolEnd">) {
    return this.#listeners.tools?.handleToolEnd(...args);
  }

  override handleToolError(...args: Args<"handleToolError">) {
    return this.#listeners.tools?.handleToolError(...args);
  }

  override handleChainStart(...args: Args<"handleChainStart">) {
    return this.#listeners.chains?.handleChainStart(...args);
  }

  override handleChainEnd(...args: Args<"handleChainEnd">) {
    return this.#listeners.chains?.handleChainEnd(...args);
  }

  override handleChainError(...args: Args<"handleChainError">) {
    return this.#listeners.chains?.handleChainError(...args);
  }

  /** Each of them is told, whatever becomes of another: what a call has cost is not to be lost because a count of it failed. */
  #models(tell: (one: ModelHooks) => unknown): void | Promise<void> {
    const waits = this.#listeners.models.map((one) => tried(tell, one)).filter((told) => told instanceof Promise);
    if (waits.length > 0) return Promise.all(waits).then(() => undefined);
  }
}

function tried(tell: (one: ModelHooks) => unknown, one: ModelHooks): unknown {
  try {
    return tell(one);
  } catch (error) {
    return Promise.reject(error);
  }
}
