import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { createTempDir } from "../../../testing/temp-dir.ts";

const COMMITS = 40;
const ROW_BYTES = 500;

/** Milliseconds of single commits of one small row: what the disk takes, whoever stores. */
export function sampleDiskFloor(): number[] {
  const dir = createTempDir("cognition-bench-");
  const db = new DatabaseSync(join(dir.path, "floor.db"));
  db.exec("pragma journal_mode = wal; pragma synchronous = full; create table t (v blob)");
  const insert = db.prepare("insert into t values (?)");
  const row = Buffer.alloc(ROW_BYTES, 1);
  const times = Array.from({ length: COMMITS }, () => {
    const start = performance.now();
    insert.run(row);
    return performance.now() - start;
  });
  db.close();
  dir.remove();
  return times;
}
