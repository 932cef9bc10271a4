import { type ArtifactSummary, DEFAULT_MAX_ARTIFACT_BYTES, DEFAULT_PAGE_LIMIT } from "@cognition/contract";
import type { ArtifactReader, ArtifactStore } from "../artifact-store.ts";
import { readContent } from "./artifact-content.ts";
import { createArtifact } from "./artifact-create.ts";
import {
  CONTENT,
  type FullRow,
  type SummaryRow,
  selectArtifacts,
  selectVersions,
  toArtifact,
  toSummary,
} from "./artifact-row.ts";
import { refuseIfChanged, updateArtifact } from "./artifact-update.ts";
import { artifactNotFound, hasId, visibleTo } from "./artifact-visibility.ts";
import type { SqlContext } from "./context.ts";
import { requireKnown } from "./known-names.ts";
import { atMost } from "./limit.ts";
import { madeBefore } from "./made-before.ts";
import { pageBounds } from "./page-bounds.ts";
import { scopeTextOf } from "./scope.ts";
import { statement } from "./statement.ts";
import { isComparable, unifiedDiff } from "./unified-diff.ts";

export interface ArtifactStoreOptions {
  /** Of one version's content. */
  maxBytes?: number;
}

type ListFilter = NonNullable<Parameters<ArtifactStore["listArtifacts"]>[1]>;

export function createArtifactStore(ctx: SqlContext, options: ArtifactStoreOptions = {}): ArtifactStore {
  const { db } = ctx;
  const { maxBytes = DEFAULT_MAX_ARTIFACT_BYTES } = options;

  async function newest(id: string, reader: ArtifactReader): Promise<FullRow> {
    const query = selectArtifacts(db).select(CONTENT).where(hasId(id)).where(visibleTo(reader));
    const [row] = await db.read(query, scopeTextOf(reader.scope));
    if (!row) throw artifactNotFound(id);
    return row;
  }

  async function oneVersion(id: string, version: number, reader: ArtifactReader): Promise<FullRow> {
    if (!Number.isSafeInteger(version)) throw artifactNotFound(id, version);
    const query = selectVersions(db).select(CONTENT).where(hasId(id)).where(visibleTo(reader));
    const [row] = await db.read(query.where("v.version", "=", version), scopeTextOf(reader.scope));
    if (!row) throw artifactNotFound(id, version);
    return row;
  }

  return {
    createArtifact: (artifact) => createArtifact(ctx, artifact, maxBytes),
    updateArtifact: (id, change, reader) => updateArtifact(ctx, id, change, reader, maxBytes),
    getArtifact: async (id, reader) => toArtifact(await newest(id, reader)),
    getVersion: async (id, version, reader) => toArtifact(await oneVersion(id, version, reader)),
    readContent: async (id, reader, version) => {
      const row = version === undefined ? await newest(id, reader) : await oneVersion(id, version, reader);
      return { content: readContent(row), content_type: row.content_type };
    },
    listArtifacts: (reader, filter = {}) => listArtifacts(ctx, reader, filter),
    listVersions: async (id, reader) => {
      const query = selectVersions(db).where(hasId(id)).where(visibleTo(reader)).orderBy("v.version", "desc");
      const versions = await db.read(query, scopeTextOf(reader.scope));
      if (versions.length === 0) throw artifactNotFound(id);
      return versions.map(toSummary);
    },
    diffVersions: async (id, from, to, reader) => {
      const [before, after] = [await oneVersion(id, from, reader), await oneVersion(id, to, reader)];
      const [old, now] = [readContent(before), readContent(after)];
      const changed = before.encoding !== after.encoding || !Buffer.from(before.content).equals(after.content);
      const text = typeof old === "string" && typeof now === "string" && isComparable(old, now);
      return { id, from, to, changed, diff: text ? unifiedDiff(old, now, `version ${from}`, `version ${to}`) : null };
    },
    deleteArtifact: (id, reader, { if_version } = {}) => deleteArtifact(ctx, id, reader, if_version),
  };
}

async function deleteArtifact(
  { db }: SqlContext,
  id: string,
  reader: ArtifactReader,
  if_version: number | undefined,
): Promise<boolean> {
  // Every mention is `a`, also here, so that the condition is the one that the reads have.
  const query = db.q.deleteFrom("artifacts as a").where(hasId(id)).where(visibleTo(reader));
  const guarded = if_version === undefined ? query : query.where("a.version", "=", if_version);
  const [deleted] = await db.atomic([statement(guarded)]);
  if (deleted?.changes === 1 || if_version === undefined) return deleted?.changes === 1;
  const [row] = await db.read(selectArtifacts(db).where(hasId(id)).where(visibleTo(reader)), scopeTextOf(reader.scope));
  if (row) refuseIfChanged(row, if_version);
  return false;
}

async function listArtifacts(
  { db }: SqlContext,
  reader: ArtifactReader,
  { limit, offset, before, ...filter }: ListFilter,
): Promise<{ artifacts: ArtifactSummary[]; total: number }> {
  requireKnown("Artifacts", filter, ["artifact_type", "visibility", "name"]);
  const page = pageBounds({ limit, offset }, DEFAULT_PAGE_LIMIT);
  const wanted = Object.entries(filter).filter(([, value]) => value !== undefined) as ["name", string][];
  let found = selectArtifacts(db).where(visibleTo(reader));
  let counted = db.q.selectFrom("artifacts as a").where(visibleTo(reader));
  for (const [column, value] of wanted) {
    found = found.where(`a.${column}`, "=", value);
    counted = counted.where(`a.${column}`, "=", value);
  }
  if (before !== undefined) found = found.where(madeBefore("artifacts", "a", before));
  const statements = [
    statement(found.orderBy("a.pk", "desc").limit(atMost(page.limit)).offset(page.offset)),
    statement(counted.select((eb) => eb.fn.countAll<number>().as("total"))),
  ];
  const [artifacts, total] = await db.readAll(statements, scopeTextOf(reader.scope));
  const rows = (artifacts?.rows ?? []) as unknown as SummaryRow[];
  return { artifacts: rows.map(toSummary), total: Number(total?.rows[0]?.["total"]) };
}
