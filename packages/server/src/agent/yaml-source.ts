import { AppError, isJsonObject } from "@cognition/contract";
import { type Document, isMap, isNode, isPair, isScalar, LineCounter, parseDocument } from "yaml";
import type { z } from "zod";
import { messageOf } from "../file/error-text.ts";

/** A definition is small; aliases that multiply are a bomb, not a definition. */
const MAX_ALIASES = 100;

type YamlPath = readonly PropertyKey[];

export interface YamlSource {
  readonly label: string;
  readonly value: Record<string, unknown>;
  /** The line of what a path names, or of the nearest thing around it that is there. */
  lineOf(path: YamlPath): number;
}

/** Parses a mapping. `firstLine` is where the text begins in its file. */
export function parseYaml(text: string, label: string, firstLine = 1): YamlSource {
  const lines = new LineCounter();
  const doc = parseDocument(text, { lineCounter: lines, prettyErrors: false, uniqueKeys: true });
  const lineAt = (offset: number) => lines.linePos(offset).line + firstLine - 1;
  const [error] = doc.errors;
  if (error) throw yamlError(label, lineAt(error.pos[0]), error.message);
  const value = toValue(doc, label, firstLine);
  const lineOf = (path: YamlPath) => lineAt(offsetOf(doc, path));
  const circle = findCircle(value, [], []);
  if (circle) throw yamlError(label, lineOf(circle), `${circle.map(String).join(".")} refers to itself`);
  return { label, value, lineOf };
}

/** The path of an alias to something around it, if there is one. Whoever walks through such a value comes to no end. */
function findCircle(value: unknown, path: YamlPath, around: readonly unknown[]): YamlPath | undefined {
  if (typeof value !== "object" || value === null) return undefined;
  if (around.includes(value)) return path;
  for (const [key, inner] of Object.entries(value)) {
    const found = findCircle(inner, [...path, key], [...around, value]);
    if (found) return found;
  }
  return undefined;
}

function toValue(doc: Document, label: string, firstLine: number): Record<string, unknown> {
  let value: unknown;
  try {
    value = doc.toJS({ maxAliasCount: MAX_ALIASES }) ?? {};
  } catch (cause) {
    throw yamlError(label, firstLine, messageOf(cause));
  }
  if (isJsonObject(value)) return value;
  throw yamlError(label, firstLine, "must be a mapping of keys to values");
}

// The key rather than its value: a block's value begins on the next line, or is missing.
function offsetOf(doc: Document, path: YamlPath): number {
  let node: unknown = doc.contents;
  let offset = 0;
  for (const [depth, key] of path.entries()) {
    const pair = isMap(node) ? node.items.find((item) => isPair(item) && keyText(item.key) === String(key)) : undefined;
    if (pair) {
      if (isNode(pair.key)) offset = pair.key.range?.[0] ?? offset;
      node = pair.value;
      continue;
    }
    node = doc.getIn(path.slice(0, depth + 1), true);
    if (!isNode(node)) break;
    offset = node.range?.[0] ?? offset;
  }
  return offset;
}

function keyText(key: unknown): string {
  return isScalar(key) ? String(key.value) : String(key);
}

export function yamlError(label: string, line: number, message: string): AppError {
  return new AppError("invalid_config", `${label}:${line}: ${message}`, { details: { file: label, line } });
}

/** The value as the schema has it. Throws the first fault with its line, and mentions how many more there are. */
export function parseSource<S extends z.ZodType>(
  schema: S,
  source: YamlSource,
  validKeys: readonly string[],
): z.output<S> {
  const result = schema.safeParse(source.value);
  if (result.success) return result.data;
  const [first, ...rest] = result.error.issues;
  const more = rest.length > 0 ? ` (and ${rest.length} more)` : "";
  throw yamlError(source.label, lineOfIssue(source, first), `${describe(first, validKeys)}${more}`);
}

function lineOfIssue(source: YamlSource, issue: z.core.$ZodIssue | undefined): number {
  if (!issue) return source.lineOf([]);
  const [key] = issue.code === "unrecognized_keys" ? issue.keys : [];
  return source.lineOf(key === undefined ? issue.path : [...issue.path, key]);
}

function describe(issue: z.core.$ZodIssue | undefined, validKeys: readonly string[]): string {
  if (!issue) return "is not valid";
  if (issue.code === "unrecognized_keys") {
    const valid = issue.path.length === 0 ? ` (valid: ${validKeys.join(", ")})` : "";
    return `unknown key ${issue.keys.map((key) => `"${key}"`).join(", ")}${valid}`;
  }
  const path = issue.path.map(String).join(".");
  return path === "" ? issue.message : `${path}: ${issue.message}`;
}
