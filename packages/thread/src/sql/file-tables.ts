import type { Generated } from "kysely";

/** Artifacts, and the files of workspaces. */
export interface FileTables {
  artifacts: ArtifactRow;
  artifact_versions: ArtifactVersionRow;
  snapshot_scopes: SnapshotScopeRow;
  snapshot_packs: SnapshotPackRow;
  snapshot_objects: SnapshotObjectRow;
  workspaces: WorkspaceRow;
}

export interface ArtifactRow {
  pk: Generated<number>;
  id: string;
  scope: string;
  session_id: string | null;
  run_id: string | null;
  name: string;
  artifact_type: string;
  path: string | null;
  visibility: string;
  version: number;
  created_at: string;
  updated_at: string;
  /** 1 when it was made after the point its session was put back to. */
  undone: Generated<number>;
}

export interface ArtifactVersionRow {
  artifact_id: string;
  version: number;
  content: Uint8Array;
  content_type: string;
  encoding: string;
  size: number;
  hash: string;
  reason: string | null;
  run_id: string | null;
  checkpoint_id: string | null;
  created_at: string;
}

interface SnapshotScopeRow {
  scope: string;
  /** What its packs take. Its row is the lock between those who store and the one who sweeps. */
  bytes: Generated<number>;
}

interface SnapshotPackRow {
  pk: Generated<number>;
  scope: string;
  encoding: string;
  /** Of what it holds, before compression. */
  size: number;
  content: Uint8Array;
  created_ms: number;
  /** Whose snapshot it was stored for: for whom it counts. */
  thread: number | null;
}

interface SnapshotObjectRow {
  scope: string;
  hash: string;
  kind: string;
  /** The tree that this one is kept as a change of. */
  base: string | null;
  pack: number;
  start: number;
  size: number;
}

interface WorkspaceRow {
  thread: number;
  scope: string;
  snapshot_id: string;
  updated_at: string;
}
