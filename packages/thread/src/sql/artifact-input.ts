import { AppError, CreateArtifact, Id, parseInput, UpdateArtifact } from "@cognition/contract";
import type { ArtifactChange, NewArtifact } from "../artifact-store.ts";

const OptionalId = Id.nullable().default(null);

/** The same rules as over HTTP, except for content: here it may be bytes, and its limit is the store's own. */
export function parseNewArtifact({ content: _content, scopes: _scopes, id, checkpoint_id, ...fields }: NewArtifact) {
  const {
    idempotency_key: _key,
    encoding: _encoding,
    ...parsed
  } = parseInput(CreateArtifact, { ...fields, content: "" }, "artifact");
  return {
    ...parsed,
    id: parseInput(Id.optional(), id, "artifact.id"),
    checkpoint_id: parseInput(OptionalId, checkpoint_id, "artifact.checkpoint_id"),
  };
}

export function parseArtifactChange(change: ArtifactChange) {
  const { content: _content, if_version, run_id, checkpoint_id, ...fields } = change;
  if (if_version !== undefined && !Number.isSafeInteger(if_version)) {
    throw new AppError("validation_failed", `if_version must be a whole number, not ${String(if_version)}`);
  }
  return {
    ...parseInput(UpdateArtifact, fields, "change"),
    if_version,
    run_id: parseInput(OptionalId, run_id, "change.run_id"),
    checkpoint_id: parseInput(OptionalId, checkpoint_id, "change.checkpoint_id"),
  };
}
