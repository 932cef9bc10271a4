import { AppError, type Scope, type Session } from "@cognition/contract";
import type { Storage } from "@cognition/thread";

/** Does it with the session. What fails because the session is deleted meanwhile is told so, whatever it met first. */
export async function whileThere<T>(
  storage: Pick<Storage, "getSession">,
  session_id: string,
  scope: Scope | undefined,
  work: (session: Session) => Promise<T>,
): Promise<T> {
  const find = async () => {
    const session = await storage.getSession(session_id, scope);
    if (session) return session;
    throw sessionNotFound(session_id);
  };
  const session = await find();
  try {
    return await work(session);
  } catch (error) {
    await find();
    throw error;
  }
}

export function sessionNotFound(session_id: string): AppError {
  return new AppError("session_not_found", `There is no session ${session_id}`);
}
