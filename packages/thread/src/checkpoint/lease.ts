import type { RunnableConfig } from "@langchain/core/runnables";
import type { Checkpoint } from "@langchain/langgraph-checkpoint";
import type { NewEvent } from "../event-log.ts";
import type { RebuildReport } from "../message-store.ts";
import type { LeavingWrite, Left } from "../sql/leave-run.ts";
import type { QueryResult, Statement } from "../sql/statement.ts";
import type { ProjectedRows } from "./projected-rows.ts";

/**
 * The key in a run's `configurable` under which the run engine hands its lease to the checkpointer. It begins with
 * underscores so that LangChain does not copy it into every metadata.
 */
export const LEASE = "__cognition_lease";

/** Who writes, and what is to be committed along with the next root checkpoint. */
export interface WriterLease {
  run_id: string;
  epoch: number;
  /**
   * The session of a thread that had no checkpoint when the run was claimed. Nobody else may have put one there since, so
   * what has to be known of it is not read; should somebody have done so all the same, the run's first checkpoint is refused.
   */
  empty_session?: string;
  /**
   * `put` resolves once the checkpoint is encoded and on its way, in order with everything else under this lease, rather
   * than when it is durable. Whoever sets this waits for `CheckpointSaver.flush` before anything that can't be undone: a
   * tool, an answer to the outside, the run's end. A function tells it of each root checkpoint by itself; pending writes are
   * then durable with the checkpoint of their step.
   */
  pipelined?: boolean | ((checkpoint: Checkpoint) => boolean);
  /** Goes into the metadata of every root checkpoint, beside what LangGraph notes there. */
  metadata?: Readonly<Record<string, unknown>>;
  /** The events of the step that ends with this checkpoint; its own `checkpoint` event among them. */
  takeEvents?: (checkpoint: { checkpoint_id: string; step: number }) => NewEvent[];
  /** Where the files of the workspace stand: what a root checkpoint that is written now can be gone back to with. */
  snapshot?: () => string | undefined;
  /** They are in the log, with these ids. */
  committed?: (ids: number[]) => void;
  /** A write was refused: the run belongs to another writer, or its thread is gone. Stop working. */
  lost?: (error: Error) => void;
  /** Kept by the saver: what the message rows must say when the run leaves its node, which is then looked up. */
  projected?: ProjectedRows;
  /** Kept by the saver: who writes for this lease. */
  writes?: LeasedWrites;
  /** They said something else: somebody changed them during the run. They were rebuilt from the checkpoint, or could not be. */
  repaired?: (repair: ProjectionRepair) => void;
}

export interface LeasedWrites {
  readonly thread_id: string;
  /**
   * Stores a statement in the commit of what was given last, and gives its result. Undefined where nothing is on its way any
   * more: then everything before is stored, and the statement is not. Rejects with the failure of what is on its way, or was.
   */
  storeWith(lease: WriterLease, statement: Statement): Promise<QueryResult | undefined>;
  /**
   * Stores how the run is left in the commit of what was given last. Undefined where nothing is on its way any more: then
   * everything before is stored. Rejects with the failure of what is on its way, or was.
   */
  commitWith(lease: WriterLease, leaving: LeavingWrite): Promise<Left | undefined>;
}

export interface ProjectionRepair {
  session_id: string;
  /** What the rebuild did, or what kept it from being done: the run has ended all the same. */
  outcome: RebuildReport | Error;
}

/** One invocation of a graph, or an unknown caller of the saver's methods. */
export interface Writer {
  lease: WriterLease | undefined;
  /** Some object that LangGraph makes for each invocation and hands to every call of it. */
  invocation: object | undefined;
}

export function writerOf(config: RunnableConfig): Writer {
  const { signal, control } = config as { signal?: object; control?: object };
  return { lease: config.configurable?.[LEASE] as WriterLease | undefined, invocation: signal ?? control };
}

/** A lease is one writer, however many invocations and event writers work under it. */
export function isSameWriter(a: Writer, b: Writer): boolean {
  return a.lease || b.lease ? a.lease === b.lease : a.invocation === b.invocation;
}
