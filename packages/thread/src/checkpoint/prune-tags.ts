import { type Dialect, prepared } from "../sql/dialect.ts";
import type { Statement } from "../sql/statement.ts";
import { allStands } from "./stands.ts";

interface Row {
  seq: number;
  ns: string;
  checkpoint_id: string;
  parent_id: string | null;
  metadata: string;
}

/**
 * Where a branch was left, and where the other one goes on: without the two, what was written on one would be on both. There
 * are as many of them as there were rewinds.
 */
export function keepForks(rows: readonly Row[], kept: Set<number>): void {
  const roots = rows.filter(({ ns }) => ns === "");
  const byId = new Map(roots.map((row) => [row.checkpoint_id, row]));
  for (const row of roots.filter(({ metadata }) => metadata.includes('"source":"fork"'))) {
    const left = [row.parent_id ?? "", ...allStands(JSON.parse(row.metadata) as Record<string, unknown>)];
    kept.add(row.seq);
    for (const id of left) {
      const at = byId.get(id);
      if (at) kept.add(at.seq);
    }
  }
}

interface Retag {
  thread: number;
  thread_id: string;
  /** The root checkpoints that go, and for each the nearest one before it that stays. */
  gone: readonly Row[];
  ancestorOf(row: Row): Row | undefined;
}

/** What was written after a checkpoint that goes counts as written after the nearest one before it that stays. */
export function retag(dialect: Dialect, { thread, thread_id, gone, ancestorOf }: Retag): Statement[] {
  const byTag = Map.groupBy(gone, (row) => ancestorOf(row)?.checkpoint_id ?? null);
  return [...byTag].flatMap(([tag, rows]) => {
    const ids = JSON.stringify(rows.map(({ checkpoint_id }) => checkpoint_id));
    return [
      prepared(
        dialect,
        `update artifact_versions set checkpoint_id = ? where checkpoint_id in (${dialect.eachText}) and artifact_id in (
           select a.id from artifacts a join sessions s on s.id = a.session_id where s.thread_id = ?)`,
        [tag, ids, thread_id],
      ),
      prepared(
        dialect,
        `update memory_changes set checkpoint_id = ? where thread = ? and checkpoint_id in (${dialect.eachText})`,
        [tag, thread, ids],
      ),
    ];
  });
}
