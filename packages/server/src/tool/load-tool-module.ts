import { createHash } from "node:crypto";
import { createRequire } from "node:module";
import { pathToFileURL } from "node:url";
import { AppError, isAppError, isJsonObject } from "@cognition/contract";
import { answerWithin } from "../answer-within.ts";
import { messageOf } from "../file/error-text.ts";
import type { SourceFile } from "../file/file-set.ts";
import { providePackages } from "../file/provided-packages.ts";
import { checkTool, isDefinedTool } from "./define-tool.ts";
import type { ToolDefinition } from "./tool.ts";

/** A module that waits for something at its top would otherwise hold up every run. */
const IMPORT_TIMEOUT_MS = 10_000;

export type ImportModule = (url: string) => Promise<unknown>;

/** Node's own: runs TypeScript by leaving out its types. */
const importModule: ImportModule = (url) => import(url);

/**
 * The tools that a file exports: its default export, and named ones made with `defineTool`. A changed file is imported
 * anew under an address with its hash; what it imports in turn is only read again after a restart. Throws with file and,
 * where the error knows it, line.
 */
export async function loadToolModule(file: SourceFile, load: ImportModule = importModule): Promise<ToolDefinition[]> {
  providePackages();
  const hash = createHash("sha256").update(file.text).digest("hex").slice(0, 16);
  const url = pathToFileURL(file.path);
  // A CommonJS file is remembered by its path alone, whatever the address says.
  delete createRequire(import.meta.url).cache[file.path];
  const exported = await importInTime(file, `${url.href}?v=${hash}`, load);
  const tools = Object.entries(exported)
    .filter(([name, value]) => (name === "default" ? !isEmpty(value) : isDefinedTool(value)))
    // A tool may be exported both ways.
    .filter(([, value], index, all) => all.findIndex(([, other]) => other === value) === index);
  if (tools.length === 0)
    throw failed(file, 1, "exports no tool: export one made with defineTool, by default or by name");
  return tools.map(([name, value]) => checkExport(file, name, value));
}

/** What Node makes up as the default export of a CommonJS file that exports nothing. */
function isEmpty(value: unknown): boolean {
  return isJsonObject(value) && Object.keys(value).length === 0;
}

async function importInTime(file: SourceFile, url: string, load: ImportModule): Promise<Record<string, unknown>> {
  const late = () => {
    throw failed(file, 1, `was not loaded within ${IMPORT_TIMEOUT_MS} ms: what does it wait for?`);
  };
  try {
    const module = await answerWithin(IMPORT_TIMEOUT_MS, load(url), late);
    return isJsonObject(module) ? { ...module } : {};
  } catch (error) {
    if (isAppError(error) && "file" in error.details) throw error;
    throw failed(file, lineIn(error, url), messageOf(error), error);
  }
}

function checkExport(file: SourceFile, name: string, value: unknown): ToolDefinition {
  try {
    return checkTool(value);
  } catch (error) {
    throw failed(file, lineOfExport(file.text, name), messageOf(error), error);
  }
}

/** The first place in this file that the error's stack names. For a syntax error that is the first line of the stack. */
function lineIn(error: unknown, url: string): number | null {
  const stack = error instanceof Error ? (error.stack ?? "") : "";
  const at = stack.indexOf(`${url}:`);
  const path = stack.indexOf(`${decodeURIComponent(new URL(url).pathname)}:`);
  const rest =
    at >= 0 ? stack.slice(at + url.length) : path >= 0 ? stack.slice(path + new URL(url).pathname.length) : "";
  const line = /^:(\d+)/.exec(rest)?.[1];
  return line === undefined ? null : Number(line);
}

function lineOfExport(text: string, name: string): number {
  const wanted =
    name === "default" ? /^\s*export\s+default\b/ : new RegExp(`^\\s*export\\b.*\\b${name.replace(/\$/g, "\\$")}\\b`);
  const index = text.split("\n").findIndex((line) => wanted.test(line));
  return index + 1 || 1;
}

function failed(file: SourceFile, line: number | null, message: string, cause?: unknown): AppError {
  const place = line === null ? file.label : `${file.label}:${line}`;
  return new AppError("invalid_config", `${place}: ${message}`, { details: { file: file.label, line }, cause });
}
