import { BaseCallbackHandler } from "@langchain/core/callbacks/base";
import { CallbackManager } from "@langchain/core/callbacks/manager";
import { Client, RunTree } from "langsmith";

/** How LangChain knows a tracer of LangSmith. */
const TRACER = "langchain_tracer";

/** Whether LangChain, by its own judgement of the environment, sends what happens in a graph to LangSmith. */
export function isTraced(): boolean {
  return CallbackManager.configure()?.handlers.some(({ name }) => name === TRACER) ?? false;
}

/**
 * For runs that nobody traces. Around every part of a graph LangChain puts a run of LangSmith into the context, which its
 * own code uses to keep the part's config in, and a tool may ask for. It asks the tracer for one, and without a tracer makes
 * one itself: an id of random bytes, three times in text, thirty fields, a tenth of all that a short run computes.
 * This tracer hears nothing, sends nothing, and gives a run that is made when somebody looks at it.
 */
export class NoTracer extends BaseCallbackHandler {
  readonly name = TRACER;
  override awaitHandlers = true;
  /** LangSmith takes a tracer to mean that what is called with a config wants to be traced: this is where it sends that. */
  readonly client = new NoClient();

  constructor() {
    super({ ignoreLLM: true, ignoreChain: true, ignoreAgent: true, ignoreRetriever: true, ignoreCustomEvent: true });
  }

  override copy(): NoTracer {
    return this;
  }

  /** Nothing is traced below any run. */
  updateFromRunTree(): void {}

  getRunTreeWithTracingConfig(): object {
    return new Proxy<UntracedRun>({ extra: {}, tracingEnabled: undefined }, MADE_WHEN_LOOKED_AT);
  }

  /** The same to a tool that brought an older LangChain along. */
  convertToRunTree(): object {
    return this.getRunTreeWithTracingConfig();
  }
}

/** Takes everything and sends nothing. */
class NoClient extends Client {
  override async createRun(): Promise<void> {}

  override async updateRun(): Promise<void> {}
}

interface UntracedRun {
  extra: object;
  /** As the environment says, and not `false`: LangChain takes the tracer away from whatever runs inside of that. */
  tracingEnabled: boolean | undefined;
}

const MADE_WHEN_LOOKED_AT: ProxyHandler<UntracedRun> = {
  get: (run, key) => Reflect.get(forKey(run, key), key),
  set: (run, key, value) => Reflect.set(forKey(run, key), key, value),
  has: (run, key) => Reflect.has(forKey(run, key), key),
  ownKeys: (run) => Reflect.ownKeys(made(run)),
  getOwnPropertyDescriptor: (run, key) => Reflect.getOwnPropertyDescriptor(made(run), key),
  getPrototypeOf: (run) => Reflect.getPrototypeOf(made(run)),
};

/** What LangChain itself keeps there (a config in `extra`, variables under a symbol) needs no more than a place. */
function forKey(run: UntracedRun, key: string | symbol): object {
  return typeof key === "symbol" || Object.hasOwn(run, key) ? run : made(run);
}

function made(run: UntracedRun): object {
  if (run instanceof RunTree) return run;
  const { extra, tracingEnabled } = run;
  Object.assign(run, new RunTree({ name: "<untraced>", extra }), { tracingEnabled });
  return Object.setPrototypeOf(run, RunTree.prototype);
}
