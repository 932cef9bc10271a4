import { forkCheckpoint } from "../checkpoint/fork-checkpoint.ts";
import type { SqlContext } from "./context.ts";
import { placeholders } from "./dialect.ts";
import { SET_BACK } from "./rewind-artifacts.ts";
import { all, type Statement, type Tx } from "./statement.ts";

interface Sealed {
  session_id: string;
  thread: number;
  head: string;
  snapshot: string;
  artifacts: boolean;
  memory: boolean;
}

/**
 * What was written since the head was, between two runs, is after it and in no checkpoint: going back takes it away, and
 * going to that head again would not bring it. So one that holds it is made first, which a redo then goes to.
 */
export function* sealHead({ db }: SqlContext, { session_id, artifacts, memory, ...at }: Sealed): Tx<string> {
  const { dialect } = db;
  const { thread, head, snapshot } = at;
  const run = (sql: string, params: Statement["params"]) => ({ sql: placeholders(dialect, sql), params });
  const written = yield* all([
    ...(memory
      ? [run("select 1 from memory_changes where thread = ? and checkpoint_id = ? limit 1", [thread, head])]
      : []),
    ...(artifacts
      ? [
          run(
            `select 1 from artifact_versions v join artifacts a on a.id = v.artifact_id
             where a.session_id = ? and v.checkpoint_id = ? and coalesce(v.reason, '') not like ? limit 1`,
            [session_id, head, `${SET_BACK}%`],
          ),
        ]
      : []),
  ]);
  if (written.every(({ rows }) => rows.length === 0)) return head;
  return yield* forkCheckpoint(db, { thread, checkpoint_id: head, snapshot, source: "update" });
}
