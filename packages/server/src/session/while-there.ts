import { AppError, type Scope, type Session } from "@cognition/contract";
import type { Storage } from "@cognition/thread";

/** Does it with the session. What fails because the session is deleted meanwhile is told so, whatever it met first. */
export async function whileThere<T>(
  storage: Pick<Storage, "getSession">,
  session_id: string,
  scope: Scope | undefined,
  work: (session: Session) => Promise<T>,
): Promise<T> {
  const session = await storage.getSession(session_id, scope);
  if (!session) throw sessionNotFound(session_id);
  try {
    return await work(session);
  } catch (error) {
    // Where that can't be asked, what failed first is told.
    const there = await storage.getSession(session_id, scope).catch(() => session);
    throw there ? error : sessionNotFound(session_id);
  }
}

export function sessionNotFound(session_id: string): AppError {
  return new AppError("session_not_found", `There is no session ${session_id}`);
}
