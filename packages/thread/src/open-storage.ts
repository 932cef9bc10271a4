import { AppError } from "@cognition/contract";
import { systemContext } from "./sql/context.ts";
import type { Database, Failpoint } from "./sql/database.ts";
import { openPostgres } from "./sql/postgres-database.ts";
import { explainPostgresFailure } from "./sql/postgres-failure.ts";
import { createSqlStorage } from "./sql/sql-storage.ts";
import { openSqlite } from "./sql/sqlite-database.ts";
import { checkSqlitePath } from "./sql/sqlite-path.ts";
import { timedDatabase } from "./sql/timed-database.ts";
import { watchWrites } from "./sql/watched-writes.ts";
import type { Storage } from "./storage.ts";
import { storageOptions } from "./storage-options.ts";
import { type StorageTarget, storageTarget } from "./storage-target.ts";

export interface OpenStorageOptions {
  /** Taken from the URI when left out; without either it is sqlite. */
  backend?: Storage["backend"];
  /** For sqlite a path, `.cognition/state.db` by default. */
  uri?: string;
  /** Relative paths of SQLite files start here; the current directory by default. */
  workspace?: string;
  /** PostgreSQL's connections, 1 to 10 by default, and how long a call waits for a free one (10 s) before `storage_unavailable`. */
  pool?: { min?: number; max?: number; wait_ms?: number };
  /** How long to wait for another process that writes to the same SQLite file, before `storage_busy`. */
  busy_timeout_ms?: number;
  /** How many recent events of each session this process keeps in memory, 100 by default; older ones are in the log. */
  recent_events?: number;
  /** False: a schema that is not this program's is an error instead of an upgrade. */
  migrate?: boolean;
  /** Told of every write, with the seconds from its call until it was durable. Must not throw. */
  onCommit?: (seconds: number) => void;
  /** For tests: what gives times, ids, and a place to stop the process. */
  clock?: () => Date;
  ids?: () => string;
  failpoint?: Failpoint;
}

/**
 * Opens the storage that the URI names, ready for use; `openStorage()` opens the default one. What can't be opened
 * rejects, and leaves nothing behind.
 */
export async function openStorage(...options: [] | [uri: string | OpenStorageOptions]): Promise<Storage> {
  const given = storageOptions(options);
  const { migrate = true, clock, ids } = given;
  checkNumbers(given);
  const target = storageTarget(given);
  const opened = openDatabase(target, given);
  const { db, requireWrites } = watchWrites(given.onCommit ? timedDatabase(opened, given.onCommit) : opened);
  const ctx = {
    ...systemContext(db, { ...(given.recent_events !== undefined && { recent: given.recent_events }) }),
    ...(clock && { now: () => clock().toISOString() }),
    ...(ids && { newId: ids }),
  };
  const storage = createSqlStorage({ backend: target.backend, ctx, migrate, requireWrites });
  try {
    await storage.initialize();
    return storage;
  } catch (error) {
    await storage.close();
    throw target.backend === "postgres" ? explainPostgresFailure(error, target.url) : error;
  }
}

function openDatabase(target: StorageTarget, { pool, busy_timeout_ms, failpoint }: OpenStorageOptions): Database {
  const hooks = failpoint && { failpoint };
  if (target.backend === "postgres") {
    const { min: poolMin, max: poolMax, wait_ms: connectTimeoutMs } = pool ?? {};
    return openPostgres({
      url: target.url,
      ...(poolMin !== undefined && { poolMin }),
      ...(poolMax !== undefined && { poolMax }),
      ...(connectTimeoutMs !== undefined && { connectTimeoutMs }),
      ...hooks,
    });
  }
  if (target.backend === "sqlite") checkSqlitePath(target.path);
  return openSqlite({
    path: target.path,
    ...(busy_timeout_ms !== undefined && { busyTimeoutMs: busy_timeout_ms }),
    ...hooks,
  });
}

function checkNumbers({ pool, busy_timeout_ms = 0, recent_events = 0 }: OpenStorageOptions): void {
  const { min = 1, max = Math.max(min, 10), wait_ms = 1 } = pool ?? {};
  const poolFits = Number.isInteger(min) && Number.isInteger(max) && min >= 0 && max >= 1 && min <= max;
  if (!poolFits) {
    throw new AppError(
      "invalid_config",
      `pool.min (${min}) and pool.max (${max}) must be whole numbers, 0 ≤ min ≤ max and 1 ≤ max`,
    );
  }
  // 0 would be for ever: a node without a connection must say so.
  if (!(Number.isSafeInteger(wait_ms) && wait_ms >= 1)) {
    throw new AppError("invalid_config", `pool.wait_ms must be a whole number from 1, not ${wait_ms}`);
  }
  if (!(Number.isFinite(busy_timeout_ms) && busy_timeout_ms >= 0)) {
    throw new AppError("invalid_config", `busy_timeout_ms must be a number from 0, not ${busy_timeout_ms}`);
  }
  if (!(Number.isSafeInteger(recent_events) && recent_events >= 0)) {
    throw new AppError("invalid_config", `recent_events must be a whole number from 0, not ${recent_events}`);
  }
}
