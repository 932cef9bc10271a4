import { AppError, type Scope } from "@cognition/contract";

interface Caller {
  readonly scope: Scope | undefined;
  readonly admin: boolean;
}

/** For what changes something for others than the caller's own scope. */
export function requireAdmin({ admin }: Pick<Caller, "admin">, what: string): void {
  if (admin) return;
  throw new AppError("forbidden", `${what} needs an admin key; nothing was changed`);
}

/** A scope's own definitions are its own; those of no scope in particular are everybody's. Gives the scope to write in. */
export function writableScope({ scope = {}, admin }: Caller, what: string): Scope {
  if (Object.keys(scope).length === 0) requireAdmin({ admin }, `${what} for every scope`);
  return scope;
}
