import type { Checkpoint, JsonObject, PendingTask, Session } from "@cognition/contract";
import type { CheckpointSaver } from "@cognition/thread";

/** Channels of the engine itself, and the messages, which are shown as such. */
const NOT_VARIABLES = /^(__|branch:|messages$)/;
const ERROR = "__error__";
const INTERRUPT = "__interrupt__";

export interface ReadState {
  variables: JsonObject;
  pending_tasks: PendingTask[];
}

/** What a checkpoint holds besides messages, as far as JSON has a form for it. */
export async function readState(
  saver: Pick<CheckpointSaver, "getTuple">,
  { thread_id }: Session,
  { id: checkpoint_id, next }: Checkpoint,
): Promise<ReadState> {
  const tuple = await saver.getTuple({ configurable: { thread_id, checkpoint_ns: "", checkpoint_id } });
  const values = Object.entries(tuple?.checkpoint.channel_values ?? {}).filter(([name]) => !NOT_VARIABLES.test(name));
  return {
    variables: toJson(Object.fromEntries(values)) as JsonObject,
    pending_tasks: pendingTasks(tuple?.pendingWrites ?? [], next),
  };
}

/** Those that have failed or ask something; where nothing is known of them yet, what comes next. */
function pendingTasks(writes: readonly [string, string, unknown][], next: readonly string[]): PendingTask[] {
  const tasks = new Map<string, PendingTask>();
  for (const [id, channel, value] of writes) {
    if (channel !== ERROR && channel !== INTERRUPT) continue;
    const task = tasks.get(id) ?? { id, name: next[0] ?? "", error: null, interrupts: [] };
    if (channel === ERROR) task.error = errorText(value);
    else task.interrupts.push(...(toJson(Array.isArray(value) ? value : [value]) as unknown[]));
    tasks.set(id, task);
  }
  if (tasks.size > 0) return [...tasks.values()];
  return next.map((name) => ({ id: "", name, error: null, interrupts: [] }));
}

function errorText(value: unknown): string {
  if (value instanceof Error) return value.message;
  const { message } = (value ?? {}) as { message?: unknown };
  return typeof message === "string" ? message : String(value);
}

function toJson(value: unknown): unknown {
  const text = JSON.stringify(value, (_, member) => {
    if (typeof member === "bigint") return String(member);
    if (member instanceof Map) return Object.fromEntries(member);
    return member instanceof Set ? [...member] : member;
  });
  return text === undefined ? null : JSON.parse(text);
}
