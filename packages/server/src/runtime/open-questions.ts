import type { CheckpointSaver } from "@cognition/thread";
import type { GraphState } from "./run-graph.ts";

/** What a task of a graph has asked, and nobody has answered yet. */
export interface OpenQuestion {
  /** No other question of the run has it. LangGraph's own is the task's: all that it asks, one after another, have the same. */
  readonly id: string;
  /** Undefined where a node has thrown LangGraph's `NodeInterrupt`: it waits to be run again, and hears no answer. */
  readonly interrupt_id: string | undefined;
  readonly value: unknown;
}

export interface Asked {
  readonly questions: readonly OpenQuestion[];
  /** Other tasks of the same step have come to their end. */
  readonly finished_beside: boolean;
}

type Writes = readonly (readonly [task_id: string, channel: string, value: unknown])[];
type Task = GraphState["tasks"][number];

const RESUME = "__resume__";
/** What a task has written that is not the end of it. */
const UNFINISHED = new Set(["__interrupt__", RESUME, "__error__", "__scheduled__"]);

/**
 * LangGraph shows what a task has asked until the whole step is over, also of one that was answered and is done. How many
 * answers a task was given before is with its question, in one commit: so an answer is never taken for one to the next
 * question, however often a run is begun anew.
 */
export async function openQuestions(
  saver: Pick<CheckpointSaver, "getTuple">,
  thread_id: string,
  state: GraphState,
): Promise<Asked> {
  const asking = state.tasks.filter(({ interrupts = [] }) => interrupts.length > 0);
  if (asking.length === 0) return { questions: [], finished_beside: false };
  const writes = await writesOf(saver, thread_id, state);
  const over = new Set(writes.flatMap(([task_id, channel]) => (UNFINISHED.has(channel) ? [] : task_id)));
  const answered = await answersGiven(saver, thread_id, state, writes);
  const questions = asking
    .filter(({ id = "" }) => !over.has(id))
    .flatMap(({ id: task_id = "", interrupts = [] }) =>
      interrupts.map(({ id, value }, at) => ({
        id: id ? nameOf(id, answered.get(id) ?? 0) : `breakpoint-${task_id}-${at + 1}`,
        interrupt_id: id || undefined,
        value,
      })),
    );
  return { questions, finished_beside: over.size > 0 };
}

function nameOf(interrupt_id: string, answered: number): string {
  return answered === 0 ? interrupt_id : `${interrupt_id}-${answered + 1}`;
}

/** By the id of what is asked now. A subgraph's question is one of the task that called it, too. */
async function answersGiven(
  saver: Pick<CheckpointSaver, "getTuple">,
  thread_id: string,
  state: GraphState,
  writes: Writes,
): Promise<Map<string, number>> {
  const given = new Map<string, number>();
  const add = (id: string, count: number) => given.set(id, (given.get(id) ?? 0) + count);
  for (const task of state.tasks) {
    for (const { id = "" } of task.interrupts ?? []) add(id, answersTo(task, writes));
    if (!task.state?.tasks) continue;
    const below = await writesOf(saver, thread_id, task.state);
    for (const [id, count] of await answersGiven(saver, thread_id, task.state, below)) add(id, count);
  }
  return given;
}

function answersTo({ id }: Task, writes: Writes): number {
  return writes.filter(([task_id, channel]) => task_id === id && channel === RESUME).flatMap(([, , value]) => value)
    .length;
}

async function writesOf(
  saver: Pick<CheckpointSaver, "getTuple">,
  thread_id: string,
  { config }: GraphState,
): Promise<Writes> {
  const checkpoint_ns = config?.configurable?.checkpoint_ns ?? "";
  const tuple = await saver.getTuple({ configurable: { thread_id, checkpoint_ns } });
  return tuple?.pendingWrites ?? [];
}
