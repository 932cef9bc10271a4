import { AppError, parseInput, type Scope, UserId } from "@cognition/contract";
import { type Selectable, sql } from "kysely";
import { EMPTY_PROFILE, type ProfileData, type StoredProfile } from "../task/profile-data.ts";
import type { ProfileStore } from "../task/task-store.ts";
import type { SqlContext } from "./context.ts";
import type { Database } from "./database.ts";
import { jsonText, storedJson } from "./json-text.ts";
import { scopeText, scopeTextOf } from "./scope.ts";
import { changes, first, type Tx } from "./statement.ts";
import type { Tables } from "./tables.ts";

export function createProfileStore(ctx: SqlContext): ProfileStore {
  const { db } = ctx;
  return {
    getProfile: async (user_id, scope) => {
      const [row] = await db.read(selectProfile(db, scopeText(scope), user_id), scopeTextOf(scope));
      return row ? toStoredProfile(row) : null;
    },
    changeProfile: async (user_id, change, scope?: Scope) => {
      parseInput(UserId, user_id, "user_id");
      return db.transaction(function* () {
        yield* ensureProfile(ctx, scopeText(scope), user_id);
        return yield* changeProfile(ctx, scopeText(scope), user_id, change);
      });
    },
  };
}

export function selectProfile(db: Database, scope: string, user_id: string) {
  return db.q.selectFrom("user_profiles").selectAll().where("scope", "=", scope).where("user_id", "=", user_id);
}

export function* ensureProfile({ db, now }: SqlContext, scope: string, user_id: string): Tx<void> {
  const created_at = now();
  const row = { scope, user_id, profile_data: JSON.stringify(EMPTY_PROFILE), created_at, updated_at: created_at };
  yield* changes(
    db.q
      .insertInto("user_profiles")
      .values(row)
      .onConflict((conflict) => conflict.doNothing()),
  );
}

export function* changeProfile(
  { db, now }: SqlContext,
  scope: string,
  user_id: string,
  change: (stored: ProfileData) => ProfileData,
): Tx<StoredProfile> {
  const row = yield* first(selectProfile(db, scope, user_id).modifyEnd(sql.raw(db.dialect.lockRows)));
  if (!row) throw profileNotFound(user_id);
  const stored = toStoredProfile(row);
  const data = change(stored.data);
  if (data === stored.data) return stored;
  const updated_at = now();
  const update = db.q
    .updateTable("user_profiles")
    .set({ profile_data: jsonText(data, "profile"), updated_at })
    .where("scope", "=", scope)
    .where("user_id", "=", user_id);
  yield* changes(update);
  return { ...stored, data, last_updated: updated_at };
}

export function toStoredProfile(row: Selectable<Tables["user_profiles"]>): StoredProfile {
  const { user_id, profile_data, created_at, updated_at } = row;
  return {
    user_id,
    data: { ...EMPTY_PROFILE, ...storedJson(profile_data, `The profile of ${user_id}`) },
    created_at,
    last_updated: updated_at,
  };
}

export function profileNotFound(user_id: string): AppError {
  return new AppError("profile_not_found", `There is no profile of user ${user_id}; starting a task makes one`);
}
