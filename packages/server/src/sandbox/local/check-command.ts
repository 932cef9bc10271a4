import { basename, relative, resolve } from "node:path";
import { AppError } from "@cognition/contract";
import { resolveExisting } from "../../file/resolve-existing.ts";
import type { Workspace } from "../backend.ts";
import { isAtOrBelow } from "../file/protected-paths.ts";

/** Programs that act on all that is below a folder they are given. */
const RECURSIVE = new Set(["chgrp", "chmod", "chown", "mv", "rm", "rmdir", "shred"]);

/**
 * Refuses a command that names a protected path: as an argument, as a part of one (`--file=…`, `a:b`), through links, or
 * anywhere in the text of an argument (`sh -c "…"`). This keeps an honest agent from a mistake. A program can still build
 * the name at run time: only a sandbox with isolation stops that.
 */
export async function checkCommand(words: readonly string[], { folder, paths }: Workspace): Promise<void> {
  const refused = [...paths.protected, ...paths.hidden];
  const named = refused.map((path) => ({ path, pattern: mention(path, folder) }));
  const recursive = RECURSIVE.has(basename(words[0] ?? ""));
  for (const word of words) {
    const mentioned = named.find(({ pattern }) => pattern.test(word));
    if (mentioned) throw refuse(word, mentioned.path);
    for (const candidate of word.split(/[=:,]/)) {
      if (candidate === "") continue;
      const target = resolveExisting(resolve(folder, candidate));
      const met = refused.find((path) => isAtOrBelow(target, path) || (recursive && isAtOrBelow(path, target)));
      if (met) throw refuse(word, met);
    }
  }
}

/** Its path from the workspace or from the root of the system, as a whole: not `.cognition-notes`. */
function mention(path: string, folder: string): RegExp {
  const names = isAtOrBelow(path, folder) ? [relative(folder, path), path] : [path];
  const escaped = names.filter(Boolean).map((name) => name.replace(/[.*+?^${}()|[\]\\]/g, "\\$&"));
  return new RegExp(`(^|[^\\w.-])(${escaped.join("|")})($|[^\\w-])`);
}

function refuse(word: string, path: string): AppError {
  return new AppError(
    "forbidden",
    `The command was not run: "${word}" reaches the protected path ${path}, where the server's own configuration and data are.`,
    { details: { path } },
  );
}
