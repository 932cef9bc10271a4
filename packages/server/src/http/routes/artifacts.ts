import {
  AppError,
  type Artifact,
  type ArtifactAccess,
  type ArtifactEncoding,
  type ArtifactPage,
  ArtifactVersion,
  type CreateArtifact,
  type ListArtifactVersions,
  type Scope,
} from "@cognition/contract";
import type { ArtifactReader, ArtifactStore, Storage } from "@cognition/thread";
import { makeOnce } from "../../session/make-once.ts";
import type { Call, Handlers } from "../handler.ts";
import { cursorOf, cursorPage, cursorSlice, NOT_OURS, uuidCursorOf, wrongCursor } from "./page.ts";

type Names =
  | "listArtifacts"
  | "createArtifact"
  | "getArtifact"
  | "updateArtifact"
  | "deleteArtifact"
  | "getArtifactContent"
  | "listArtifactVersions"
  | "getArtifactVersion"
  | "diffArtifact";

export interface ArtifactRoutes {
  readonly storage: Pick<Storage, "artifacts" | "getRun">;
}

export function artifactRoutes({ storage }: ArtifactRoutes): Pick<Handlers, Names> {
  const { artifacts } = storage;
  return {
    listArtifacts: async (call) => {
      const { artifact_type, visibility, name, limit, offset } = call.query;
      const before = uuidCursorOf(call.query);
      const filter = {
        ...{ limit: limit + 1, offset, ...(before && { before }) },
        ...(artifact_type && { artifact_type }),
        ...(visibility && { visibility }),
        ...(name !== undefined && { name }),
      };
      const { artifacts: found, total } = await artifacts.listArtifacts(readerOf(call), filter);
      const { page, info } = cursorPage(call.query, found, total);
      return { artifacts: page, ...info } satisfies ArtifactPage;
    },
    createArtifact: (call) => createArtifact(storage, call),
    getArtifact: async (call) => withTag(await artifacts.getArtifact(call.params.id, readerOf(call))),
    updateArtifact: async (call) => {
      const { content, encoding, content_type, name, path, visibility, reason } = call.body;
      const if_version = expectedVersion(call.headers);
      const change = {
        ...(content !== undefined && { content: decode(content, encoding) }),
        ...(content_type !== undefined && { content_type }),
        ...(name !== undefined && { name }),
        ...(path !== undefined && { path }),
        ...(visibility && { visibility }),
        ...(reason !== undefined && { reason }),
        ...(if_version !== undefined && { if_version }),
      };
      return withTag(await artifacts.updateArtifact(call.params.id, change, readerOf(call)));
    },
    deleteArtifact: async (call) => {
      const { id } = call.params;
      const if_version = expectedVersion(call.headers);
      const guard = if_version === undefined ? {} : { if_version };
      if (await artifacts.deleteArtifact(id, readerOf(call), guard)) return undefined;
      throw new AppError("artifact_not_found", `There is no artifact ${id} that this caller may see`);
    },
    getArtifactContent: async (call) => rawContent(await artifacts.readContent(call.params.id, readerOf(call))),
    listArtifactVersions: async (call) => {
      const before = versionCursorOf(call.query);
      const all = await artifacts.listVersions(call.params.id, readerOf(call));
      const { page: versions, info } = cursorSlice(
        call.query,
        all,
        ({ version }) => version < before,
        ({ version }) => String(version),
      );
      return { versions, ...info };
    },
    getArtifactVersion: async (call) => artifacts.getVersion(call.params.id, call.params.n, readerOf(call)),
    diffArtifact: async (call) => {
      const { from, to } = call.query;
      return artifacts.diffVersions(call.params.id, from, to, readerOf(call));
    },
  };
}

async function createArtifact(
  storage: ArtifactRoutes["storage"],
  { body, scope, key_id }: Call<"createArtifact">,
): Promise<Artifact> {
  const { content, encoding, idempotency_key: _, content_type, reason, ...fields } = body;
  await requireRun(storage, body, scope);
  const artifact = {
    ...fields,
    content: decode(content, encoding),
    ...(key_id !== undefined && { id: key_id }),
    ...(content_type !== undefined && { content_type }),
    ...(reason !== null && { reason }),
    ...(scope && { scopes: scope }),
  };
  const { session_id, run_id } = fields;
  return makeOnce(
    key_id,
    () => storage.artifacts.createArtifact(artifact),
    (id) => storage.artifacts.getArtifact(id, readerOf({ scope, query: { session_id, run_id } })),
  );
}

/** The number of the last version that was seen. */
function versionCursorOf(query: ListArtifactVersions): number {
  const { success, data } = ArtifactVersion.safeParse(cursorOf(query) ?? Number.MAX_SAFE_INTEGER);
  if (success) return data;
  throw wrongCursor(NOT_OURS);
}

/** Nobody says of his work that another's run made it. */
async function requireRun(
  storage: ArtifactRoutes["storage"],
  { run_id, session_id }: CreateArtifact,
  scope: Scope | undefined,
): Promise<void> {
  if (run_id === null) return;
  const run = await storage.getRun(run_id, scope);
  if (session_id === null || run.session_id === session_id) return;
  throw new AppError("run_not_found", `There is no run ${run_id} in session ${session_id}; nothing was stored`);
}

type Acting = { [K in keyof ArtifactAccess]: ArtifactAccess[K] | null };

function readerOf({ scope, query }: Pick<Call, "scope"> & { query: Acting }): ArtifactReader {
  const { session_id, run_id } = query;
  return { ...(scope && { scope }), ...(session_id && { session_id }), ...(run_id && { run_id }) };
}

function decode(content: string, encoding: ArtifactEncoding): string | Uint8Array {
  return encoding === "base64" ? Buffer.from(content, "base64") : content;
}

type Found = Awaited<ReturnType<ArtifactStore["getArtifact"]>>;

/** The version as an entity tag: what `If-Match` takes. */
function withTag(artifact: Found): Response {
  return Response.json(artifact, { headers: { ETag: `"${artifact.version}"` } });
}

function expectedVersion(headers: Headers): number | undefined {
  const given = headers.get("If-Match")?.trim();
  if (given === undefined || given === "*") return undefined;
  const [, version] = /^(?:W\/)?"?(\d{1,15})"?$/.exec(given) ?? [];
  if (version !== undefined) return Number(version);
  throw new AppError("precondition_failed", `If-Match must be a version's tag such as "3", not ${given}`);
}

/** As a download and never as a page of this origin: what an agent wrote could be a script. */
function rawContent({ content, content_type }: { content: string | Uint8Array; content_type: string }): Response {
  const body = typeof content === "string" ? content : new Uint8Array(content);
  const headers = {
    "Content-Type": content_type,
    "Content-Disposition": "attachment",
    "X-Content-Type-Options": "nosniff",
    "Content-Security-Policy": "sandbox; default-src 'none'",
  };
  return new Response(body, { headers });
}
