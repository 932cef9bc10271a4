import { AppError, isAppError, MAX_ANSWER_BYTES, type Scope, type Task } from "@cognition/contract";
import type { State, Tasks } from "@cognition/thread";
import { makeOnce } from "../../session/make-once.ts";
import type { Handlers } from "../handler.ts";
import { requireOwnUser } from "../own-user.ts";

type Names = "startTask" | "getTask" | "continueTask" | "addTaskMessage" | "updateTaskWorkspace" | "completeTask";

/** A task's answer holds its conversation twice. */
const MAX_CONVERSATION_BYTES = MAX_ANSWER_BYTES / 2;

export interface TaskRoutes {
  readonly tasks: Tasks;
}

export function taskRoutes({ tasks }: TaskRoutes): Pick<Handlers, Names> {
  /** Each request takes the task as it is stored; several at once add up, as the store promises. */
  async function open(
    task_id: string,
    scope: Scope | undefined,
    { user_id, max_bytes = MAX_CONVERSATION_BYTES }: { user_id?: string | undefined; max_bytes?: number } = {},
  ): Promise<State> {
    try {
      return await tasks.continueTask({ ...which(task_id, scope, user_id), max_bytes });
    } catch (error) {
      // Whoever has no profile has no task either, and a request that names only a task asks for that.
      if (user_id === undefined && isAppError(error, "profile_not_found")) throw taskNotFound(task_id, error);
      throw error;
    }
  }

  /** It was started under this key before; a store would begin one of its id anew. */
  async function refuseCompleted(task_id: string, scope: Scope | undefined, user_id: string): Promise<void> {
    if ((await tasks.findCompletedTask(which(task_id, scope, user_id))) === null) return;
    throw new AppError(
      "task_completed",
      `Task ${task_id}, which was started with this key, is complete; send a new key`,
    );
  }

  return {
    startTask: async ({ body, scope, key_id }) => {
      const { query, conversation_id } = body;
      const user_id = ownUserOr(scope, body.user_id);
      requireOwnUser(scope, user_id);
      const task = {
        ...{ query, user_id },
        ...(key_id !== undefined && { task_id: key_id }),
        ...(conversation_id && { conversation_id }),
        ...(scope && { scope }),
        max_bytes: MAX_CONVERSATION_BYTES,
      };
      return toTask(
        await makeOnce(
          key_id,
          async () => {
            if (key_id !== undefined) await refuseCompleted(key_id, scope, user_id);
            return tasks.startTask(task);
          },
          (id) => open(id, scope, { user_id }),
        ),
      );
    },
    getTask: async ({ params, scope }) => toTask(await open(params.id, scope)),
    continueTask: async ({ params, body, scope }) => {
      if (body.user_id !== undefined) requireOwnUser(scope, body.user_id);
      return toTask(await open(params.id, scope, { user_id: body.user_id }));
    },
    addTaskMessage: async ({ params, body, scope, key_id }) => {
      const state = await open(params.id, scope);
      // A message that the conversation has is not added again.
      await tasks.addMessage(state, body.role, body.content, key_id === undefined ? {} : { id: key_id });
      return toTask(state);
    },
    updateTaskWorkspace: async ({ params, body, scope }) => {
      const state = await open(params.id, scope);
      await tasks.updateWorkspace(state, body);
      return toTask(state);
    },
    completeTask: async ({ params, scope }) => {
      try {
        // Its answer holds no messages.
        return await tasks.completeTask(await open(params.id, scope, { max_bytes: Number.POSITIVE_INFINITY }));
      } catch (error) {
        if (!isAppError(error, "task_not_found")) throw error;
        // The answer to an earlier call may have been lost: this one is told what that one was.
        const done = await tasks.findCompletedTask(which(params.id, scope));
        if (done) return done;
        throw error;
      }
    },
  };
}

function taskNotFound(task_id: string, cause: AppError): AppError {
  return new AppError("task_not_found", `There is no task ${task_id} of this user`, { cause });
}

function which(task_id: string, scope: Scope | undefined, user_id = scope?.["user"]) {
  return { task_id, ...(user_id !== undefined && { user_id }), ...(scope && { scope }) };
}

const ANYBODY = "default";

/** Whoever does not say who he is, is the user of his scope. */
function ownUserOr(scope: Scope | undefined, user_id: string): string {
  return user_id === ANYBODY ? (scope?.["user"] ?? user_id) : user_id;
}

function toTask(state: State): Task {
  const { task_id, query, user_id, conversation_id, profile, conversation, workspace, execution } = state;
  return structuredClone({
    ...{ task_id, query, user_id, conversation_id },
    ...{ profile, conversation, workspace, execution },
  }) as Task;
}
