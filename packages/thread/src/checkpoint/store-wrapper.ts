import { AsyncBatchedStore, type BaseStore } from "@langchain/langgraph-checkpoint";

/** Registered symbols, so that two copies of this package in one process know each other's stores. */
const DIRECT = Symbol.for("cognition.store.direct");
const TAUGHT = Symbol.for("cognition.store.taught");

const METHODS = ["batch", "get", "search", "put", "delete", "listNamespaces"] as const;

interface Wrapper extends Pick<BaseStore, (typeof METHODS)[number]> {
  store: BaseStore;
  running: boolean;
}

type Start = (this: Wrapper) => void;

/**
 * LangGraph puts an AsyncBatchedStore around every store it is given, for each run and each subgraph, and nothing that
 * the inner store does or looks like can prevent it. The wrapper asks a zero timer for work as long as the run lasts,
 * passes on only the first three arguments of `put`, and throws on `listNamespaces` and `batch`. So `start`, the one
 * method that LangGraph calls before anyone else sees the wrapper, lets those around a marked store hand every call
 * straight through, and starts no timer. Other stores' wrappers are as they were.
 */
export function reachDirectly(store: BaseStore): void {
  Object.defineProperty(store, DIRECT, { value: true });
  const prototype = AsyncBatchedStore.prototype as unknown as { start: Start; [TAUGHT]?: true };
  if (prototype[TAUGHT]) return;
  const { start } = prototype;
  prototype.start = function startDirectly() {
    if (!(DIRECT in this.store)) return start.call(this);
    this.running = true;
    for (const method of METHODS) Object.assign(this, { [method]: this.store[method].bind(this.store) });
  };
  prototype[TAUGHT] = true;
}
