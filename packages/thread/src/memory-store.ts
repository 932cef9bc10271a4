import type { Store as SqlStore } from "./checkpoint/store.ts";

/** LangGraph's store, with all that ours promises beyond it: its methods say what. Whoever writes another needs no more. */
export interface Store extends Omit<SqlStore, "recordedFor"> {
  /** The same memory, as the tools of a thread write to it: what they change can be set back with the thread. */
  recordedFor(thread_id: string): Store;
}
