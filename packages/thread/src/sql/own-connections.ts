import { AppError } from "@cognition/contract";
import pg from "pg";

/** Others at the pooler may get the connection in between; but hardly each time. */
const ROUNDS = 5;
const ANSWER_WITHIN_MS = 10_000;

/**
 * Throws where a pooler hands the same connection of the server to several clients (PgBouncer's transaction mode): what is set
 * on it, prepared on it, listened for and asked after would be on another one a moment later. A server that is talked to
 * directly has told its own name of the connection as it began, and is asked but once.
 */
export async function requireOwnConnections(client: pg.ClientBase, url: string, where: string): Promise<void> {
  const isDirect = (await pidOf(client)) === (client as unknown as { processID: number | null }).processID;
  if (!isDirect && (await isShared(client, url))) throw shared(where);
}

async function isShared(client: pg.ClientBase, url: string): Promise<boolean> {
  const other = new pg.Client({
    connectionString: url,
    application_name: "cognition",
    connectionTimeoutMillis: ANSWER_WITHIN_MS,
    query_timeout: ANSWER_WITHIN_MS,
  });
  other.on("error", () => undefined); // the question fails with it
  // A pooler that has no second connection to give shares none. What happens to the first one is told to whoever asked.
  const otherPid = () => pidOf(other).catch(() => undefined);
  try {
    await other.connect().catch(() => undefined);
    for (let round = 0; round < ROUNDS; round++) {
      const pid = await otherPid();
      if (pid === undefined) return false;
      if (pid === (await pidOf(client))) return true;
    }
    return false;
  } finally {
    other.end().catch(() => undefined); // it has told what it had to
  }
}

async function pidOf(client: pg.ClientBase): Promise<number | undefined> {
  const { rows } = await client.query<{ pid: number }>("select pg_backend_pid() as pid");
  return rows[0]?.pid;
}

function shared(where: string): AppError {
  return new AppError(
    "invalid_config",
    `${where} is a pooler in transaction mode, which shares each connection between its clients. Connect to PostgreSQL itself, or to ` +
      "the pooler's address for session mode. Nothing was changed.",
  );
}
