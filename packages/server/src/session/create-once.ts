import { createHash } from "node:crypto";
import { IDEMPOTENCY_KEY_TTL_HOURS, isAppError, type Scope, type Session } from "@cognition/contract";
import type { NewSession, Storage } from "@cognition/thread";

const KEPT_MS = IDEMPOTENCY_KEY_TTL_HOURS * 3_600_000;

/**
 * A session that was asked for with a key has the name of its thread from it: a server that dies after it made the
 * session, and before it could note its answer, finds it again at the next try and makes no second one. Not its own id,
 * which tells when it was made.
 */
export async function createOnce(
  storage: Pick<Storage, "createSession" | "listSessions">,
  session: NewSession & { scopes: Scope },
  key: string,
): Promise<Session> {
  const thread_id = idOfKey(session.scopes, key);
  try {
    return await storage.createSession({ ...session, thread_id });
  } catch (error) {
    if (!isAppError(error, "already_exists", "thread_deleted")) throw error;
    const [made] = await storage.listSessions({ scope: session.scopes, thread_id, limit: 1 });
    // A key is forgotten after its time, or with its session, and then means another one.
    const isStillKnown = made !== undefined && Date.now() - Date.parse(made.created_at) < KEPT_MS;
    return isStillKnown ? made : storage.createSession(session);
  }
}

/** As a UUID of version 8, which is free for such uses. */
function idOfKey(scope: Scope, key: string): string {
  const members = Object.entries(scope).sort(([a], [b]) => (a < b ? -1 : 1));
  const bytes = createHash("sha256")
    .update(JSON.stringify([members, key]))
    .digest()
    .subarray(0, 16);
  bytes.writeUInt8((bytes.readUInt8(6) & 0x0f) | 0x80, 6);
  bytes.writeUInt8((bytes.readUInt8(8) & 0x3f) | 0x80, 8);
  const hex = bytes.toString("hex");
  return [hex.slice(0, 8), hex.slice(8, 12), hex.slice(12, 16), hex.slice(16, 20), hex.slice(20)].join("-");
}
