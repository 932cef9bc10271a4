import type { SqlValue, Statement } from "../sql/statement.ts";

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
    const parent = row.parent_id === null ? undefined : byId.get(row.parent_id);
    kept.add(row.seq);
    if (parent) kept.add(parent.seq);
  }
}

interface Retag {
  thread: number;
  thread_id: string;
  rows: readonly Row[];
  kept: ReadonlySet<number>;
}

/** What was written after a checkpoint that goes counts as written after the nearest one before it that stays. */
export function retag(
  run: (sql: string, params: SqlValue[]) => Statement,
  { thread, thread_id, rows, kept }: Retag,
): Statement[] {
  const roots = rows.filter(({ ns }) => ns === "");
  const byId = new Map(roots.map((row) => [row.checkpoint_id, row]));
  return roots
    .filter(({ seq }) => !kept.has(seq))
    .flatMap((row) => {
      let parent = byId.get(row.parent_id ?? "");
      while (parent && !kept.has(parent.seq)) parent = byId.get(parent.parent_id ?? "");
      const tag = parent?.checkpoint_id ?? null;
      return [
        run(
          `update artifact_versions set checkpoint_id = ? where checkpoint_id = ? and artifact_id in (
             select a.id from artifacts a join sessions s on s.id = a.session_id where s.thread_id = ?)`,
          [tag, row.checkpoint_id, thread_id],
        ),
        run("update memory_changes set checkpoint_id = ? where thread = ? and checkpoint_id = ?", [
          tag,
          thread,
          row.checkpoint_id,
        ]),
      ];
    });
}
