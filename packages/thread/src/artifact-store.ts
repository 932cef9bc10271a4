import type {
  Artifact,
  ArtifactDiff,
  ArtifactSummary,
  ArtifactType,
  ArtifactVisibility,
  Scope,
} from "@cognition/contract";

/** Who asks. Without a session only public artifacts of the scope exist; `run` ones need the run's id too. */
export interface ArtifactReader {
  scope?: Scope;
  session_id?: string;
  run_id?: string;
}

export interface NewArtifact {
  /** One that is there already rejects with `already_exists`. */
  id?: string;
  name: string;
  artifact_type: ArtifactType;
  visibility?: ArtifactVisibility;
  path?: string | null;
  /** Text is stored as text and bytes as bytes; both come back as they went in. */
  content: string | Uint8Array;
  content_type?: string;
  reason?: string;
  /** Null for one that belongs to no session, which must be public. */
  session_id: string | null;
  run_id?: string | null;
  checkpoint_id?: string | null;
  /** The session's own; another one is as good as a session that does not exist. Without a session: where it is seen. */
  scopes?: Scope;
}

export interface ArtifactChange {
  content?: string | Uint8Array;
  content_type?: string;
  name?: string;
  path?: string | null;
  visibility?: ArtifactVisibility;
  /** Needed for a new version of a contract or a policy. */
  reason?: string;
  /** The version the caller has seen; another one in between rejects with `precondition_failed`. */
  if_version?: number;
  run_id?: string | null;
  checkpoint_id?: string | null;
}

/**
 * Durable, versioned files. Scope and visibility are checked on every read: `run` is seen by the run that made it,
 * `private` by its session, `public` by every session of the scope; what a reader may not see is `artifact_not_found`.
 */
export interface ArtifactStore {
  /** Version 1. Rejects with `content_too_large` past the limit, with nothing stored. */
  createArtifact(artifact: NewArtifact): Promise<Artifact>;
  getArtifact(id: string, reader: ArtifactReader): Promise<Artifact>;
  /** The bytes as they went in, of the newest or a given version. */
  readContent(
    id: string,
    reader: ArtifactReader,
    version?: number,
  ): Promise<{ content: string | Uint8Array; content_type: string }>;
  /** Newest first, without content. */
  listArtifacts(
    reader: ArtifactReader,
    filter?: {
      artifact_type?: ArtifactType;
      visibility?: ArtifactVisibility;
      name?: string;
      limit?: number;
      offset?: number;
      /** An artifact's id: only those that are older, also where that one is gone. */
      before?: string;
    },
  ): Promise<{ artifacts: ArtifactSummary[]; total: number }>;
  /** A new version only when the content or its type changed; two writers never take the same number. */
  updateArtifact(id: string, change: ArtifactChange, reader: ArtifactReader): Promise<Artifact>;
  /** Newest first, without content. Reason, run and checkpoint are those of each version. */
  listVersions(id: string, reader: ArtifactReader): Promise<ArtifactSummary[]>;
  getVersion(id: string, version: number, reader: ArtifactReader): Promise<Artifact>;
  /** A unified diff of two text versions; for bytes only whether they differ. */
  diffVersions(id: string, from: number, to: number, reader: ArtifactReader): Promise<ArtifactDiff>;
  /** False if there is none that this reader may see. At another version than `if_version` it stays: `precondition_failed`. */
  deleteArtifact(id: string, reader: ArtifactReader, guard?: Pick<ArtifactChange, "if_version">): Promise<boolean>;
}
