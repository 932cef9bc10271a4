import { accessSync, constants, statSync } from "node:fs";
import { delimiter, isAbsolute, join } from "node:path";

export type FoundExecutable =
  | { readonly found: "file"; readonly file: string }
  /** There is such a file, but it may not be run: what a shell reports as 126. */
  | { readonly found: "not_executable"; readonly file: string }
  | { readonly found: "nothing" };

/** Looks a command up as a shell does: by path if it has a slash, else along `path`. */
export function findExecutable(name: string, { path, cwd }: { path: string; cwd: string }): FoundExecutable {
  const candidates = name.includes("/")
    ? [isAbsolute(name) ? name : join(cwd, name)]
    : path.split(delimiter).map((folder) => join(isAbsolute(folder) ? folder : join(cwd, folder), name));
  let blocked: string | undefined;
  for (const file of candidates) {
    if (!isFile(file)) continue;
    if (isExecutable(file)) return { found: "file", file };
    blocked ??= file;
  }
  return blocked ? { found: "not_executable", file: blocked } : { found: "nothing" };
}

function isFile(file: string): boolean {
  try {
    return statSync(file).isFile();
  } catch {
    // Not there, not to be entered, too long: none of them can be run.
    return false;
  }
}

function isExecutable(file: string): boolean {
  try {
    accessSync(file, constants.X_OK);
    return true;
  } catch {
    return false;
  }
}
