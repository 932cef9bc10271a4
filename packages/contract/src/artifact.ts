import { z } from "zod";
import { Id, idempotent } from "./id.ts";
import { StringMap } from "./json.ts";
import { DEFAULT_MAX_ARTIFACT_BYTES, MAX_PATH_LENGTH, MAX_TEXT_LENGTH, MAX_TITLE_LENGTH } from "./limits.ts";
import { pageInfo, paging, queryInt } from "./page.ts";
import { exceedsBytes, text } from "./text.ts";
import { Timestamp } from "./time.ts";

export const ArtifactType = z.enum(["scratch", "artifact", "contract", "eval", "memory", "policy"]);
export type ArtifactType = z.infer<typeof ArtifactType>;

/** `run`: its run and that run's subagents; `private`: its session; `public`: every session of the scope. */
export const ArtifactVisibility = z.enum(["private", "run", "public"]);
export type ArtifactVisibility = z.infer<typeof ArtifactVisibility>;

/** What `content` is: the text itself, or bytes as base64. `size` counts the bytes it stands for. */
export const ArtifactEncoding = z.enum(["text", "base64"]);
export type ArtifactEncoding = z.infer<typeof ArtifactEncoding>;

/** A new version of one of these needs a `reason`. */
export const REASONED_ARTIFACT_TYPES = ["contract", "policy"] as const satisfies readonly ArtifactType[];

export const Artifact = z.strictObject({
  id: z.string(),
  name: z.string(),
  artifact_type: ArtifactType,
  path: z.string().nullable(),
  content: z.string(),
  encoding: ArtifactEncoding,
  content_type: z.string(),
  size: z.int().nonnegative(),
  version: z.int().positive(),
  reason: z.string().nullable(),
  run_id: z.string().nullable(),
  session_id: z.string().nullable(),
  checkpoint_id: z.string().nullable(),
  visibility: ArtifactVisibility,
  scope: StringMap,
  created_at: Timestamp,
  updated_at: Timestamp,
});
export type Artifact = z.infer<typeof Artifact>;

/** As lists show it. */
export const ArtifactSummary = Artifact.omit({ content: true, encoding: true });
export type ArtifactSummary = z.infer<typeof ArtifactSummary>;

const tooLarge = {
  error: `content is larger than the limit of ${DEFAULT_MAX_ARTIFACT_BYTES} bytes`,
  params: { code: "content_too_large", limit: "artifact", max: DEFAULT_MAX_ARTIFACT_BYTES },
};
const base64 = z.base64();
type Encoded = { content?: string | undefined; encoding?: ArtifactEncoding | undefined };

function decodedLength(content: string): number {
  const padding = content.endsWith("==") ? 2 : content.endsWith("=") ? 1 : 0;
  return Math.floor((content.length * 3) / 4) - padding;
}

function checkContent({ content, encoding }: Encoded, ctx: z.RefinementCtx): void {
  if (content === undefined) return;
  const path = ["content"];
  const fits =
    encoding === "base64"
      ? decodedLength(content) <= DEFAULT_MAX_ARTIFACT_BYTES
      : !exceedsBytes(content, DEFAULT_MAX_ARTIFACT_BYTES);
  if (!fits) ctx.addIssue({ code: "custom", path, message: tooLarge.error, params: tooLarge.params });
  else if (encoding === "base64" && !base64.safeParse(content).success) {
    ctx.addIssue({ code: "custom", path, message: "content is not base64" });
  }
}

/** It becomes a header of the raw content: letters and signs that a header can carry, and nothing that ends it. */
const ContentType = text("content_type", 255, 1).regex(/^[!-.0-~]+\/[!-.0-~][ -~]*$/, {
  error: "content_type must be a media type such as text/plain",
});

const writable = {
  content: z.string(),
  encoding: ArtifactEncoding.default("text"),
  content_type: ContentType,
  path: text("path", MAX_PATH_LENGTH, 1),
  reason: text("reason", MAX_TEXT_LENGTH, 1),
};

export const CreateArtifact = z
  .strictObject({
    name: text("name", MAX_TITLE_LENGTH, 1),
    artifact_type: ArtifactType.default("artifact"),
    visibility: ArtifactVisibility.default("private"),
    content: writable.content,
    encoding: writable.encoding,
    content_type: writable.content_type.optional(),
    path: writable.path.nullable().default(null),
    reason: writable.reason.nullable().default(null),
    session_id: Id.nullable().default(null),
    run_id: Id.nullable().default(null),
    ...idempotent,
  })
  .superRefine(checkContent)
  .superRefine(({ visibility, session_id, run_id, artifact_type }, ctx) => {
    // Without what it belongs to, nobody could ever see it.
    if (visibility !== "public" && session_id === null) {
      const message = `an artifact of visibility ${visibility} needs session_id`;
      ctx.addIssue({ code: "custom", path: ["session_id"], message });
    } else if (artifact_type === "scratch" && session_id === null) {
      const message = "scratch needs session_id: it goes with its session";
      ctx.addIssue({ code: "custom", path: ["session_id"], message });
    }
    if (visibility === "run" && run_id === null) {
      ctx.addIssue({ code: "custom", path: ["run_id"], message: "an artifact of visibility run needs run_id" });
    }
  });
export type CreateArtifact = z.infer<typeof CreateArtifact>;
export type CreateArtifactInput = z.input<typeof CreateArtifact>;

/** Makes a new version only when the content changed. */
export const UpdateArtifact = z
  .strictObject({
    content: writable.content.optional(),
    encoding: writable.encoding,
    content_type: writable.content_type.optional(),
    name: text("name", MAX_TITLE_LENGTH, 1).optional(),
    path: writable.path.nullable().optional(),
    visibility: ArtifactVisibility.optional(),
    reason: writable.reason.optional(),
  })
  .superRefine(checkContent);
export type UpdateArtifact = z.infer<typeof UpdateArtifact>;

/** The session that the caller acts for: without it only public artifacts are seen. */
export const ArtifactAccess = z.strictObject({ session_id: Id.optional(), run_id: Id.optional() });
export type ArtifactAccess = z.infer<typeof ArtifactAccess>;

export const ListArtifacts = ArtifactAccess.extend({
  ...paging,
  artifact_type: ArtifactType.optional(),
  visibility: ArtifactVisibility.optional(),
  name: text("name", MAX_TITLE_LENGTH, 1).optional(),
});
export type ListArtifacts = z.infer<typeof ListArtifacts>;

export const ArtifactPage = z.strictObject({ artifacts: z.array(ArtifactSummary), ...pageInfo });
export type ArtifactPage = z.infer<typeof ArtifactPage>;

export const ListArtifactVersions = ArtifactAccess.extend(paging);
export type ListArtifactVersions = z.infer<typeof ListArtifactVersions>;

export const ArtifactVersionPage = z.strictObject({ versions: z.array(ArtifactSummary), ...pageInfo });
export type ArtifactVersionPage = z.infer<typeof ArtifactVersionPage>;

export const ArtifactVersion = queryInt("version", 1, Number.MAX_SAFE_INTEGER);

export const DiffArtifact = ArtifactAccess.extend({ from: ArtifactVersion, to: ArtifactVersion });
export type DiffArtifact = z.infer<typeof DiffArtifact>;

/** `diff` is unified text, null where one side is not text, or both are more lines than are compared. */
export const ArtifactDiff = z.strictObject({
  id: z.string(),
  from: z.int().positive(),
  to: z.int().positive(),
  changed: z.boolean(),
  diff: z.string().nullable(),
});
export type ArtifactDiff = z.infer<typeof ArtifactDiff>;
