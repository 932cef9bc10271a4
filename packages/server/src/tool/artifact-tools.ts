import {
  AppError,
  type Artifact,
  type ArtifactSummary,
  ArtifactType,
  ArtifactVisibility,
  DEFAULT_MAX_OUTPUT_BYTES,
  MAX_TITLE_LENGTH,
} from "@cognition/contract";
import { z } from "zod";
import { defineTool } from "./define-tool.ts";
import { limitText } from "./limit-text.ts";
import type { ToolArtifacts } from "./tool.ts";

const name = z.string().min(1).max(MAX_TITLE_LENGTH);

const saveArtifact = defineTool({
  name: "save_artifact",
  description:
    "Saves a text as a named, versioned artifact that outlives this conversation's files. The same name again makes a new version.",
  schema: z.object({
    name: name.describe("For example report.md"),
    content: z.string(),
    artifact_type: ArtifactType.default("artifact"),
    visibility: ArtifactVisibility.default("private").describe(
      "private: this session; run: this run; public: every session of the user",
    ),
    content_type: z.string().max(255).optional(),
    reason: z.string().min(1).optional().describe("Why there is a new version; needed for contract and policy"),
  }),
  // A second attempt finds the artifact of the first by its name, and equal content makes no new version.
  on_crash: "retry",
  effect: "write",
  async run({ name, content, artifact_type, visibility, content_type, reason }, { artifacts }) {
    const change = { content, ...(content_type && { content_type }), ...(reason && { reason }) };
    const existing = await findByName(artifacts, name);
    const saved = existing
      ? await artifacts.update(existing.id, change)
      : await artifacts.create({ name, artifact_type, visibility, ...change });
    return { output: `Saved ${saved.name} (id ${saved.id}), version ${saved.version}.`, artifact: { id: saved.id } };
  },
});

const readArtifact = defineTool({
  name: "read_artifact",
  description: "Reads an artifact, by its id or by its name; an earlier version if one is given.",
  schema: z.object({
    id: z.string().min(1).optional(),
    name: name.optional(),
    version: z.int().positive().optional(),
  }),
  on_crash: "retry",
  effect: "read",
  async run({ id, name, version }, { artifacts }) {
    const found = id ?? (name === undefined ? undefined : (await findByName(artifacts, name))?.id);
    if (found === undefined) {
      const message = name === undefined ? "give the id or the name" : `there is no artifact "${name}"`;
      throw new AppError(name === undefined ? "validation_failed" : "artifact_not_found", message);
    }
    return show(await artifacts.get(found, version));
  },
});

const listArtifacts = defineTool({
  name: "list_artifacts",
  description: "Lists the artifacts that this session can see, newest first.",
  schema: z.object({
    artifact_type: ArtifactType.optional(),
    limit: z.int().min(1).max(200).default(50),
    offset: z.int().min(0).default(0),
  }),
  on_crash: "retry",
  effect: "read",
  async run({ artifact_type, limit, offset }, { artifacts }) {
    const page = await artifacts.list({ limit, offset, ...(artifact_type && { artifact_type }) });
    if (page.total === 0) return "There are no artifacts.";
    const lines = page.artifacts.map(
      ({ id, name, artifact_type: type, version, size }) =>
        `${name} (id ${id}, ${type}, version ${version}, ${size} bytes)`,
    );
    return [`${page.artifacts.length} of ${page.total}:`, ...lines].join("\n");
  },
});

export const ARTIFACT_TOOLS = [saveArtifact, readArtifact, listArtifacts];

async function findByName(artifacts: ToolArtifacts, name: string): Promise<ArtifactSummary | undefined> {
  const { artifacts: found } = await artifacts.list({ name, limit: 1 });
  return found[0];
}

function show({ name, version, content, encoding, content_type, size }: Artifact): string {
  if (encoding !== "text") return `${name}, version ${version}: ${size} bytes of ${content_type}, which is not text.`;
  return limitText(content, DEFAULT_MAX_OUTPUT_BYTES);
}
