import { lstatSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { createTempDir } from "../../../testing/temp-dir.ts";
import { ScannedWorkspace } from "../src/timeline/workspace/scanned-workspace.ts";
import { contentsOf } from "../test/timeline/folder-contents.ts";
import { contentOf, makeManyFiles } from "../test/timeline/many-files.ts";
import { moveTo, openWorkspaces } from "../test/timeline/open-workspaces.ts";

/** The least of several goes: the machine does other things too. */
const GOES = 8;

export interface LookCost {
  readonly files: number;
  readonly stat_ms: number;
  readonly look_ms: number;
}

/** A bare stat of every file, and a look at them all after one has changed, in turn: what disturbs one disturbs both. */
export function measureLook(files: number): LookCost {
  const dir = createTempDir();
  try {
    const paths = makeManyFiles(dir.path, files);
    const workspace = new ScannedWorkspace(dir.path, {
      ...{ maxFileBytes: 1e7, exclude: [], ignore: [] },
      now: () => Date.now(),
    });
    let { tree } = workspace.scan(undefined);
    let [stat_ms, look_ms] = [Number.POSITIVE_INFINITY, Number.POSITIVE_INFINITY];
    for (let go = 0; go < GOES; go++) {
      stat_ms = Math.min(
        stat_ms,
        timed(() => paths.forEach((path) => void lstatSync(path))),
      );
      writeFileSync(paths[go] ?? "", `changed ${go}`);
      const look = () => {
        const next = workspace.scan(tree);
        workspace.read(next.objects);
        ({ tree } = next);
      };
      look_ms = Math.min(look_ms, timed(look));
    }
    return { files, stat_ms, look_ms };
  } finally {
    dir.remove();
  }
}

export interface SnapshotCost {
  readonly files: number;
  readonly snapshots: number;
  /** Of every content that any snapshot holds, counted once. */
  readonly distinct_bytes: number;
  readonly stored_bytes: number;
  /** The whole SQLite file. */
  readonly database_bytes: number;
  readonly snapshot_ms: number;
  readonly restore_ms: number;
  readonly is_exact: boolean;
}

/** So many snapshots, each after one file of so many has changed; then back to the first of them. */
export async function measureSnapshots(files: number, snapshots: number): Promise<SnapshotCost> {
  const dir = createTempDir();
  const uri = join(dir.path, "state.db");
  const all = await openWorkspaces({}, uri);
  try {
    const { session, lease, folder } = await all.start();
    const paths = makeManyFiles(folder, files);
    let distinct_bytes = paths.reduce((sum, path) => sum + statSync(path).size, 0);
    const run = await all.workspaces.begin(session, lease);
    const first = { snapshot: run.snapshot_id, files: contentsOf(folder) };
    const began = performance.now();
    for (let i = 1; i < snapshots; i++) {
      const content = contentOf(1_000_000 + i);
      distinct_bytes += content.length;
      writeFileSync(paths[(i * 37) % paths.length] ?? "", content);
      await run.after();
    }
    const snapshot_ms = (performance.now() - began) / Math.max(1, snapshots - 1);
    const [error] = all.errors;
    if (error !== undefined) throw error;
    const stored_bytes = await all.storage.snapshots.snapshotBytes({});
    const restoring = performance.now();
    await moveTo(all, session, first.snapshot);
    const restore_ms = performance.now() - restoring;
    const isThere = (await all.workspaces.look(session)).tree === first.snapshot;
    const is_exact = isThere && JSON.stringify(contentsOf(folder)) === JSON.stringify(first.files);
    await all.storage.close();
    const database_bytes = statSync(uri).size;
    return { files, snapshots, distinct_bytes, stored_bytes, database_bytes, snapshot_ms, restore_ms, is_exact };
  } finally {
    await all.close();
    dir.remove();
  }
}

/** Of the processor's time, which a busy machine takes away from neither. */
function timed(work: () => void): number {
  const start = process.cpuUsage();
  work();
  const { user, system } = process.cpuUsage(start);
  return (user + system) / 1000;
}
