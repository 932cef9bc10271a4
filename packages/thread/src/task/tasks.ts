import {
  AppError,
  type CompletedTask,
  type Content,
  type MessageRole,
  type Profile,
  parseInput,
  ReplaceProfile,
  type ReplaceProfileInput,
  type Scope,
  StartTask,
  type StartTaskInput,
  type UpdateProfile,
} from "@cognition/contract";
import type { NewMessage } from "../message-store.ts";
import type { Storage } from "../storage.ts";
import { checkMessage } from "./message-change.ts";
import { profileChanges } from "./profile-changes.ts";
import { toProfile } from "./profile-data.ts";
import { applyChanged, type State, toState } from "./state.ts";
import type { StoredTask, TaskChange } from "./task-store.ts";
import { createTaskWriter, type TaskWriter } from "./task-writer.ts";
import { workspaceChanges } from "./workspace-changes.ts";

/** What a change's function takes, after the state it is about. */
type OnState<Changes> = {
  [K in keyof Changes]: Changes[K] extends (...args: infer A) => unknown
    ? (state: State, ...args: A) => Promise<void>
    : never;
};

export interface Tasks extends OnState<typeof profileChanges>, OnState<typeof workspaceChanges> {
  /**
   * A task with a fresh workspace, on a new conversation or on one of the user's, whose history is then in
   * `execution.messages`. Stored, profile included, when it resolves.
   */
  startTask(
    task: Omit<StartTaskInput, "idempotency_key"> & { task_id?: string; scope?: Scope; max_bytes?: number },
  ): Promise<State>;
  /**
   * The same conversation, workspace and query as before, and a fresh execution. With `max_bytes`, here and at the start, a
   * conversation that takes more is refused with `limit_exceeded`, before it is read.
   */
  continueTask(task: { task_id: string; user_id?: string; scope?: Scope; max_bytes?: number }): Promise<State>;
  /** Stores what is left and deletes the workspace in one commit. Later changes reject with `task_completed`. */
  completeTask(state: State): Promise<CompletedTask>;
  /** When it was completed, whoever did; null for a task that is open or unknown. */
  findCompletedTask(task: { task_id: string; user_id?: string; scope?: Scope }): Promise<CompletedTask | null>;
  /** One row. The conversation and the execution get a copy each when it is stored. */
  addMessage(
    state: State,
    role: MessageRole,
    content: Content,
    more?: Pick<NewMessage, "id" | "metadata" | "tool_calls" | "tool_call_id">,
  ): Promise<void>;
  /** Waits until every change so far is stored, in the order of the calls; rejects if one of them could not be. */
  flush(state: State): Promise<void>;
  /** The seed's name for `flush`: every change is on its way to the storage from the moment of its call. */
  autosave(state: State): Promise<void>;

  getProfile(user_id: string, scope?: Scope): Promise<Profile>;
  /** Every field; one that is left out becomes empty. */
  replaceProfile(user_id: string, profile: ReplaceProfileInput, scope?: Scope): Promise<Profile>;
  /** Only the fields that are given. */
  patchProfile(user_id: string, patch: UpdateProfile, scope?: Scope): Promise<Profile>;
}

export function createTasks(storage: Pick<Storage, "tasks" | "profiles">): Tasks {
  const writers = new WeakMap<State, TaskWriter>();

  function open(task: StoredTask): State {
    const state = toState(task);
    const seen = new Set(task.messages.map(({ id }) => id));
    const writer = createTaskWriter(storage.tasks, task, (changed) => applyChanged(state, seen, changed));
    writers.set(state, writer);
    return state;
  }

  function writerOf(state: State): TaskWriter {
    const writer = writers.get(state);
    if (writer) return writer;
    throw new AppError("validation_failed", "This state was not made by startTask or continueTask of these tasks");
  }

  /** The writer's own promise, which a flush may answer for; bad input is a rejection like every other failure. */
  const onState =
    <A extends unknown[]>(toChange: (...args: A) => TaskChange) =>
    (state: State, ...args: A): Promise<void> => {
      try {
        return writerOf(state).write(toChange(...args));
      } catch (error) {
        return Promise.reject(error);
      }
    };

  const changeProfile = async (user_id: string, patch: UpdateProfile, scope?: Scope) =>
    toProfile(await storage.profiles.changeProfile(user_id, profileChanges.updateProfile(patch), scope));
  const flush = async (state: State) => writerOf(state).flush();

  return {
    ...mapMethods(profileChanges, (make) => onState((...args: never[]) => ({ profile: make(...args) }))),
    ...mapMethods(workspaceChanges, (make) => onState((...args: never[]) => ({ workspace: make(...args) }))),
    startTask: async ({ task_id, scope, max_bytes, ...task }) => {
      const { query, user_id, conversation_id } = parseInput(StartTask, task, "task");
      return open(
        await storage.tasks.startTask({
          ...{ query, user_id },
          ...(task_id !== undefined && { task_id }),
          ...(conversation_id !== undefined && { conversation_id }),
          ...(scope !== undefined && { scope }),
          ...(max_bytes !== undefined && { max_bytes }),
        }),
      );
    },
    continueTask: async (task) => open(await storage.tasks.loadTask(task)),
    completeTask: async (state) => writerOf(state).complete(),
    findCompletedTask: (task) => storage.tasks.findCompletedTask(task),
    addMessage: onState((role, content, more) => ({ message: checkMessage({ ...more, role, content }) })),
    flush,
    autosave: flush,
    getProfile: async (user_id, scope) => {
      const stored = await storage.profiles.getProfile(user_id, scope);
      if (!stored) throw new AppError("profile_not_found", `There is no profile of user ${user_id}`);
      return toProfile(stored);
    },
    replaceProfile: async (user_id, profile, scope) =>
      changeProfile(user_id, parseInput(ReplaceProfile, profile, "profile"), scope),
    patchProfile: changeProfile,
  };
}

function mapMethods<Changes extends object>(
  changes: Changes,
  toMethod: (make: (...args: never[]) => never) => unknown,
): OnState<Changes> {
  return Object.fromEntries(Object.entries(changes).map(([name, make]) => [name, toMethod(make)])) as OnState<Changes>;
}
