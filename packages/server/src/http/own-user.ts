import { AppError, type Scope } from "@cognition/contract";

/** Where the scope names a user, nobody acts for another one: his profile, tasks and chats are not there. */
export function requireOwnUser(scope: Scope | undefined, user_id: string): void {
  const user = scope?.["user"];
  if (user === undefined || user === user_id) return;
  throw new AppError("scope_mismatch", `user_id must be "${user}", the user of this request's scope`);
}
