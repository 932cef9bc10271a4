import { realpath } from "node:fs/promises";
import { relative } from "node:path";
import { findInside } from "../file/path-inside.ts";
import { readRegular } from "../file/read-regular.ts";
import { limitText } from "../tool/limit-text.ts";
import type { AgentDefinition } from "./agent-definition.ts";
import { memoryFault, STANDARD_MEMORY } from "./memory-path.ts";

/** Each is part of every prompt. */
const MAX_BYTES = 64 * 1024;

export interface MemoryFile {
  /** Relative to the workspace root. */
  readonly path: string;
  readonly content: string;
}

/**
 * What an agent is to know about the workspace: its AGENTS.md, that of `.cognition/`, and the files its definition names,
 * in this order. A file that is not there is left out, as one may come later; what is no file, or a link to where the agent may not
 * look, likewise.
 */
export async function readMemoryFiles(
  root: string,
  { memory, source }: Pick<AgentDefinition, "memory" | "source">,
): Promise<MemoryFile[]> {
  const paths = [...new Set([...STANDARD_MEMORY, ...memory])];
  // What every agent reads nobody has named, and it may be a link to wherever the workspace's owner keeps it.
  const sourceOf = (path: string) => (STANDARD_MEMORY.includes(path) ? "file" : source);
  const files = await Promise.all(paths.map((path) => read(root, path, sourceOf(path))));
  return files.filter((file) => file !== undefined && file.content.trim() !== "") as MemoryFile[];
}

async function read(root: string, path: string, source: AgentDefinition["source"]): Promise<MemoryFile | undefined> {
  const found = await findInside(root, path);
  // By where it is, and not by what it is called: it may be a link.
  if (!found || memoryFault(relative(await realpath(root), found), source)) return undefined;
  const file = await readRegular(found, MAX_BYTES + 1);
  if (!file) return undefined;
  return { path, content: limitText(new TextDecoder().decode(file.bytes), MAX_BYTES, file.size) };
}
