import type { Socket } from "node:net";
import pg from "pg";

export interface SilenceOptions {
  url: string;
  /** A connection that has said nothing for so long is asked after. */
  quietMs?: number;
  /** A server that answers nobody for so long is away. */
  answerWithinMs: number;
}

/** Finds connections whose other end is gone without a word: a cut line, a host that lost its power, a forgetful firewall. */
export interface SilentConnections {
  /** Of a connection that is new: notes by what name the server knows it. */
  opened(client: pg.PoolClient): void;
  /** From now on an answer is waited for; until the function that is returned is called. */
  waits(client: pg.PoolClient): () => void;
  close(): void;
}

/** Below the lease of a run, so that most of it is left for the next attempt. */
const QUIET_MS = 2_000;
/** What became idle this moment may have its answer on the way. */
const AT_WORK = `select pid from pg_stat_activity where pid = any($1::int[]) and wait_event is distinct from 'ClientWrite'
  and (state is null or state not like 'idle%' or state_change > clock_timestamp() - interval '1 second')`;

interface Waiting {
  bytes: number;
  since: number;
}

/**
 * The kernel goes on sending for a quarter of an hour before it calls such a connection lost, and a time limit for every
 * statement would end those that only wait for a lock. So the server itself is asked, over another connection, whether
 * it is at work on what is waited for. If it is not, or can't be asked, the connection is closed: its user is told.
 */
export function createSilentConnections({
  url,
  quietMs = QUIET_MS,
  answerWithinMs,
}: SilenceOptions): SilentConnections {
  const pids = new WeakMap<pg.PoolClient, number>();
  const waiting = new Map<pg.PoolClient, Waiting>();
  let timer: NodeJS.Timeout | undefined;
  let asking = false;

  /** One that the server has not even named yet can't be asked after: a busy server takes its time to begin. */
  function patienceWith(client: pg.PoolClient): number {
    return pids.has(client) ? quietMs : Math.max(quietMs, answerWithinMs);
  }

  function quietNow(): [pg.PoolClient, Waiting][] {
    const now = performance.now();
    for (const [client, one] of waiting) {
      const { bytesRead } = socketOf(client);
      if (bytesRead === one.bytes) continue;
      one.bytes = bytesRead;
      one.since = now;
    }
    return [...waiting].filter(([client, { since }]) => now - since >= patienceWith(client));
  }

  async function look(): Promise<void> {
    const quiet = quietNow();
    if (quiet.length === 0) return;
    const atWork = await findAtWork(quiet.flatMap(([client]) => pids.get(client) ?? []));
    for (const [client, one] of quiet) {
      if (waiting.get(client) !== one || socketOf(client).bytesRead !== one.bytes) continue; // an answer came meanwhile
      if (!atWork(pids.get(client)))
        socketOf(client).destroy(new Error("the connection has gone dead: no answer comes"));
    }
  }

  async function findAtWork(wanted: number[]): Promise<(pid: number | undefined) => boolean> {
    const asker = new pg.Client({
      connectionString: url,
      application_name: "cognition",
      connectionTimeoutMillis: answerWithinMs,
      query_timeout: answerWithinMs,
    });
    asker.on("error", () => undefined); // the question fails with it
    let isThere = false;
    try {
      await asker.connect();
      isThere = true;
      const { rows } = await asker.query<{ pid: number }>(AT_WORK, [wanted]);
      const found = new Set(rows.map(({ pid }) => pid));
      return (pid) => pid !== undefined && found.has(pid);
    } catch (error) {
      // A server that lets nobody else in is there all the same, and so is a pooler that has none to give: nothing is known.
      return () => isThere || error instanceof pg.DatabaseError;
    } finally {
      asker.end().catch(() => undefined); // it has told what it had to, or the question has failed with it
      socketOf(asker).destroySoon();
    }
  }

  function tick(): void {
    if (asking) return;
    asking = true;
    const looked = () => {
      asking = false;
    };
    look().then(looked, looked); // whatever went wrong, the next look finds the same silence
  }

  return {
    opened: (client) => {
      client.query<{ pid: number }>("select pg_backend_pid() as pid").then(
        ({ rows }) => pids.set(client, rows[0]?.pid as number),
        () => undefined, // whoever uses it is told
      );
    },
    waits: (client) => {
      timer ??= setInterval(tick, quietMs / 2).unref();
      waiting.set(client, { bytes: socketOf(client).bytesRead, since: performance.now() });
      return () => waiting.delete(client);
    },
    close: () => clearInterval(timer),
  };
}

function socketOf(client: pg.ClientBase): Socket {
  return (client as unknown as { connection: { stream: Socket } }).connection.stream;
}
