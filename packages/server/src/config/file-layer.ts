import { existsSync, readFileSync } from "node:fs";
import { dirname, join, resolve } from "node:path";
import { AppError } from "@cognition/contract";
import { parseYaml, type YamlSource, yamlError } from "../agent/yaml-source.ts";
import { hasCode, messageOf } from "../file/error-text.ts";
import type { Environment } from "../model/key-ring.ts";
import { expand } from "./expand.ts";
import { isGroup, type Layer, type Path } from "./layer.ts";

export const CONFIG_FILE = join(".cognition", "config.yaml");
/** As many other programs call theirs: whoever has his settings in it, scoping among them, believes that they are in force. */
const MISNAMED = join(".cognition", "config.yml");

/** The file in this folder's `.cognition`, if there is one. */
export function fileLayer(folder: string, env: Environment): Layer | undefined {
  const file = join(folder, CONFIG_FILE);
  const text = readText(folder);
  if (text === undefined) return undefined;
  const source = parseYaml(text, file);
  const expanded = new Set<string>();
  const value = expandTree(source.value, [], { source, env, expanded });
  return {
    value: value as Record<string, unknown>,
    isText: (path) => expanded.has(keyOf(path)),
    originOf: (path) => ({ from: "file", file, line: source.lineOf(path) }),
  };
}

/** The nearest folder from here upward that has a configuration. */
export function findConfigFolder(cwd: string): string | undefined {
  for (let folder = resolve(cwd); ; folder = dirname(folder)) {
    if (readText(folder) !== undefined) return folder;
    if (folder === dirname(folder)) return undefined;
  }
}

function readText(folder: string): string | undefined {
  const [file, misnamed] = [join(folder, CONFIG_FILE), join(folder, MISNAMED)];
  if (existsSync(misnamed)) {
    throw new AppError(
      "invalid_config",
      `${misnamed} is not read: settings are in ${file}. Rename or remove it. Nothing was started.`,
    );
  }
  try {
    return readFileSync(file, "utf8");
  } catch (cause) {
    if (hasCode(cause, "ENOENT", "ENOTDIR")) return undefined;
    throw new AppError("invalid_config", `${file} can't be read: ${messageOf(cause)}. Nothing was started.`, { cause });
  }
}

interface Expansion {
  readonly source: YamlSource;
  readonly env: Environment;
  readonly expanded: Set<string>;
}

/** A key with nothing after it is as good as left out, so that a section may be commented out line by line. */
function expandTree(value: unknown, path: Path, context: Expansion): unknown {
  if (typeof value === "string") return expandText(value, path, context);
  if (Array.isArray(value)) return value.map((item, index) => expandTree(item, [...path, index], context));
  if (!isGroup(value)) return value;
  const entries = Object.entries(value).filter(([, inner]) => inner !== null);
  return Object.fromEntries(entries.map(([key, inner]) => [key, expandTree(inner, [...path, key], context)]));
}

function expandText(text: string, path: Path, { source, env, expanded }: Expansion): string {
  if (!text.includes("$")) return text;
  const result = expand(text, env, (problem) => yamlError(source.label, source.lineOf(path), problem));
  if (result !== text) expanded.add(keyOf(path));
  return result;
}

function keyOf(path: Path): string {
  return path.map(String).join("\0");
}
