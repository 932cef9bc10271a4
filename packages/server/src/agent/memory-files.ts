import { join } from "node:path";
import { findInside } from "../file/path-inside.ts";
import { readRegular } from "../file/read-regular.ts";
import { limitText } from "../tool/limit-text.ts";

/** Read by every agent, if they are there. */
const STANDARD = ["AGENTS.md", join(".cognition", "AGENTS.md")];
/** Each is part of every prompt. */
const MAX_BYTES = 64 * 1024;

export interface MemoryFile {
  /** Relative to the workspace root. */
  readonly path: string;
  readonly content: string;
}

/**
 * What an agent is to know about the workspace: its AGENTS.md, that of `.cognition/`, and the files its definition names,
 * in this order. A file that is not there is left out, as one may come later; what is no file, or a link out of the workspace, likewise.
 */
export async function readMemoryFiles(root: string, named: readonly string[] = []): Promise<MemoryFile[]> {
  const files = await Promise.all([...new Set([...STANDARD, ...named])].map((path) => read(root, path)));
  return files.filter((file) => file !== undefined && file.content.trim() !== "") as MemoryFile[];
}

async function read(root: string, path: string): Promise<MemoryFile | undefined> {
  const found = await findInside(root, path);
  const file = found && (await readRegular(found, MAX_BYTES + 1));
  if (!file) return undefined;
  return { path, content: limitText(new TextDecoder().decode(file.bytes), MAX_BYTES, file.size) };
}
