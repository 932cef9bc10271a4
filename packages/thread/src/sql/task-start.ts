import { AppError, Id, parseInput, Scope, StartTask } from "@cognition/contract";
import type { NewTask, StoredTask } from "../task/task-store.ts";
import { newWorkspace } from "../task/workspace-data.ts";
import type { SqlContext } from "./context.ts";
import { requireSize, selectSize } from "./conversation-size.ts";
import { toMessage } from "./message-row.ts";
import { ensureProfile, profileNotFound, selectProfile, toStoredProfile } from "./profile-store.ts";
import { scopeText } from "./scope.ts";
import { createSession } from "./session-create.ts";
import { parseNewSession } from "./session-input.ts";
import { all, changes, first, rows, type Tx } from "./statement.ts";
import { conversationNotFound, writeConversation } from "./write-conversation.ts";

const NewTaskInput = StartTask.omit({ idempotency_key: true }).extend({
  task_id: Id.optional(),
  scope: Scope.default({}),
});

type Input = ReturnType<typeof parseTask>;

export async function startTask(ctx: SqlContext, { max_bytes, ...task }: NewTask): Promise<StoredTask> {
  const input = parseTask(ctx, task);
  const { conversation_id } = input;
  if (conversation_id !== undefined) {
    return writeConversation(ctx.db, conversation_id, () => startOn(ctx, input, conversation_id, max_bytes));
  }
  return ctx.db.transaction(function* () {
    const session = yield* createSession(ctx, parseNewSession({ scopes: input.scope }));
    return yield* startOn(ctx, input, session.id);
  });
}

/** The id is made before the transaction, which may run twice. */
function parseTask({ newId }: SqlContext, task: NewTask) {
  const { task_id = newId(), ...input } = parseInput(NewTaskInput, task, "task");
  return { ...input, task_id };
}

function* startOn(
  ctx: SqlContext,
  input: Input,
  conversation_id: string,
  max_bytes = Number.POSITIVE_INFINITY,
): Tx<StoredTask> {
  const { db, now } = ctx;
  const { task_id, user_id, query } = input;
  const scope = scopeText(input.scope);
  const last_updated = yield* takeConversation(ctx, { scope, user_id, conversation_id });
  const [measured] = yield* all([selectSize(db.dialect, conversation_id)]);
  requireSize(conversation_id, measured, max_bytes);
  yield* ensureProfile(ctx, scope, user_id);
  const profile = yield* first(selectProfile(db, scope, user_id));
  if (!profile) throw profileNotFound(user_id);
  const workspace = newWorkspace(query);
  const created_at = now();
  const row = { scope, task_id, user_id, conversation_id, query, created_at, updated_at: created_at };
  const insert = db.q.insertInto("task_workspaces").values({ ...row, workspace_data: JSON.stringify(workspace) });
  const stored = yield* changes(insert.onConflict((conflict) => conflict.doNothing()));
  if (stored === 0) throw new AppError("already_exists", `Task ${task_id} exists already; nothing was stored`);
  const messages = yield* rows(
    db.q
      .selectFrom("messages")
      .selectAll()
      .where("session_id", "=", conversation_id)
      .where("position", "is not", null)
      .orderBy("position"),
  );
  return {
    ...{ task_id, user_id, conversation_id, scope: input.scope, query, workspace, last_updated },
    profile: toStoredProfile(profile),
    messages: messages.map(toMessage),
  };
}

/** The condition stands on the row that is written: of two users who take a session at once, one does. */
function* takeConversation(
  { db }: SqlContext,
  { scope, user_id, conversation_id }: { scope: string; user_id: string; conversation_id: string },
): Tx<string> {
  const taken = yield* first(
    db.q
      .updateTable("sessions")
      .set({ user_id })
      .where("id", "=", conversation_id)
      .where("scope", "=", scope)
      .where((eb) => eb.or([eb("user_id", "is", null), eb("user_id", "=", user_id)]))
      .returning("updated_at"),
  );
  if (!taken) throw conversationNotFound(conversation_id);
  return taken.updated_at;
}
