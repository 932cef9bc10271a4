import { realpath } from "node:fs/promises";
import { dirname, join, relative } from "node:path";
import { AppError, DEFAULT_MAX_OUTPUT_BYTES, isJsonObject, type JsonObject } from "@cognition/contract";
import { z } from "zod";
import { findInside } from "../file/path-inside.ts";
import { readRegular } from "../file/read-regular.ts";
import { defineTool } from "./define-tool.ts";
import { exportedNames } from "./exported-names.ts";
import { limitText } from "./limit-text.ts";

const MAX_BYTES = 1024 * 1024;
const PACKAGE_NAME = /^(@[a-z0-9~-][a-z0-9._~-]*\/)?[a-z0-9~-][a-z0-9._~-]*$/i;

/** Looks at a package of the workspace as files; nothing of it is run or imported. */
export const inspectPackage = defineTool({
  name: "inspect_package",
  description:
    "Tells about an npm package installed in the workspace, or the workspace's own: version, description, exports, types and dependencies. Does not run it.",
  schema: z.object({
    name: z
      .string()
      .max(214)
      .regex(PACKAGE_NAME, { error: "is not the name of an npm package" })
      .optional()
      .describe("Left out: the workspace's own package"),
  }),
  on_crash: "retry",
  effect: "read",
  async run({ name }, { workspace }) {
    const folder = name === undefined ? "." : join("node_modules", name);
    const manifest = await readManifest(workspace, folder, name);
    const types = typesEntry(manifest.json);
    const report = {
      ...pick(manifest.json, ["name", "version", "description", "license", "type", "main", "module", "bin", "engines"]),
      exports: exportPaths(manifest.json["exports"]),
      types,
      exported_names: types === null ? [] : await namesIn(workspace, dirname(manifest.path), types),
      ...pick(manifest.json, ["dependencies", "peerDependencies", "optionalDependencies", "devDependencies"]),
    };
    return limitText(JSON.stringify(report, null, 2), DEFAULT_MAX_OUTPUT_BYTES);
  },
});

async function readManifest(workspace: string, folder: string, name?: string) {
  const path = await findInside(workspace, join(folder, "package.json"));
  if (path === undefined) {
    const message =
      name === undefined ? "the workspace has no package.json" : `${name} is not installed in the workspace`;
    throw new AppError("file_not_found", message);
  }
  const json = parse(await readBounded(path));
  if (!isJsonObject(json))
    throw new AppError("tool_failed", `the package.json of ${name ?? "the workspace"} is not valid`);
  return { path, json };
}

async function readBounded(path: string): Promise<string> {
  const file = await readRegular(path, MAX_BYTES);
  if (!file) throw new AppError("tool_failed", `${path} is not a regular file`);
  if (file.size > MAX_BYTES)
    throw new AppError("content_too_large", `${path} is larger than the limit of ${MAX_BYTES} bytes`);
  return new TextDecoder().decode(file.bytes);
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

function pick(json: JsonObject, keys: readonly string[]): JsonObject {
  return Object.fromEntries(keys.flatMap((key) => (json[key] === undefined ? [] : [[key, json[key]]])));
}

/** The paths that can be imported. */
function exportPaths(exported: unknown): string[] {
  if (exported === undefined) return [];
  const keys = isJsonObject(exported) ? Object.keys(exported) : [];
  return keys.some((key) => key.startsWith(".")) ? keys : ["."];
}

function typesEntry(json: JsonObject): string | null {
  const named = json["types"] ?? json["typings"];
  if (typeof named === "string") return named;
  const exported = json["exports"];
  return findTypes(isJsonObject(exported) ? (exported["."] ?? exported) : undefined, 0);
}

/** Conditions may be nested; the first one named `types` is what a compiler takes. */
function findTypes(node: unknown, depth: number): string | null {
  if (!isJsonObject(node) || depth > 5) return null;
  if (typeof node["types"] === "string") return node["types"];
  for (const value of Object.values(node)) {
    const found = findTypes(value, depth + 1);
    if (found !== null) return found;
  }
  return null;
}

async function namesIn(workspace: string, folder: string, types: string): Promise<string[]> {
  const path = await findInside(await realpath(workspace), relative(await realpath(workspace), join(folder, types)));
  return path === undefined ? [] : exportedNames(await readBounded(path));
}
