import { lstat, readdir } from "node:fs/promises";
import { join } from "node:path";
import { AppError, isAppError, type WorkspaceFile } from "@cognition/contract";
import { hasCode } from "../../file/error-text.ts";
import { entryOf, openFolderIn } from "../../file/open-folder.ts";
import { removeEntry } from "../../file/remove-entry.ts";
import type { WorkspaceQuota } from "../quota/workspace-quota.ts";
import type { SandboxFiles } from "../sandbox.ts";
import { describeEntry, openToRead, readWhole, undefinedIfMissing, writeWhole } from "./file-access.ts";
import { pathProtected, pathRefused, wrongType } from "./file-error.ts";
import { type Place, type WalkOptions, walkTo } from "./folder-walk.ts";
import { identify, identityOf, isAtOrBelow, type ProtectedPaths } from "./protected-paths.ts";
import { replaceText } from "./replace-text.ts";
import { createSearch } from "./search-files.ts";

export interface WorkspaceFilesOptions {
  /** The workspace on this machine, without links. */
  readonly root: string;
  /** Other absolute names of the same folder: what commands inside the sandbox call it. */
  readonly aliases: readonly string[];
  readonly paths: ProtectedPaths;
  readonly maxBytes: number;
  /** One after another, with those of all sandboxes of the same folder. */
  readonly inTurn: <T>(work: () => Promise<T>) => Promise<T>;
  readonly quota: Pick<WorkspaceQuota, "reserve">;
}

type Access = "read" | "write";

export function createWorkspaceFiles(options: WorkspaceFilesOptions): SandboxFiles {
  const { root, aliases, maxBytes, inTurn, quota } = options;
  const walk = (changes: Partial<WalkOptions> = {}) => ({ root, aliases, follow: true, ...changes });

  async function reach<T>(
    path: string,
    access: Access,
    use: (place: Place) => Promise<T>,
    changes?: Partial<WalkOptions>,
  ) {
    return walkTo(path, walk(changes), async (place) => {
      await checkAccess(place, access, options);
      return use(place);
    });
  }

  const write = async (path: string, content: Uint8Array) => {
    // Taken for a file's name it would be in the way of whatever is then to be put into the folder.
    if (path.endsWith("/")) throw wrongType(path, "a file's name: it ends with a slash");
    await quota.reserve(content.length);
    return reach(path, "write", (place) => writeWhole(place, content, path), {
      beforeMake: (place) => checkAccess(place, "write", options),
    });
  };
  const readText = async (path: string) => decode(await files.read(path), path);

  const files: SandboxFiles = {
    read: (path) => reach(path, "read", (place) => readWhole(place, maxBytes, path)),
    open: (path) => reach(path, "read", (place) => openToRead(place, path)),
    readText,
    write: (path, content) => inTurn(() => write(path, encode(content, maxBytes))),
    edit: (path, change) =>
      inTurn(async () => {
        const { text, replaced } = replaceText(await readText(path), change, path);
        await write(path, encode(text, maxBytes));
        return { replaced };
      }),
    ls: (path = ".") => reach(path, "read", listEntries),
    delete: (path) => inTurn(() => reach(path, "write", (place) => remove(place, path, options), { follow: false })),
    stat: (path) => reach(path, "read", describeEntry),
    async exists(path) {
      try {
        await files.stat(path);
        return true;
      } catch (error) {
        if (isAppError(error, "file_not_found")) return false;
        throw error;
      }
    },
    ...createSearch({ reach: (path, use) => reach(path, "read", use), hidden: options.paths.hidden, root, maxBytes }),
  };
  return files;
}

async function checkAccess(place: Place, access: Access, { root, paths }: WorkspaceFilesOptions): Promise<void> {
  const refused = access === "write" ? [...paths.protected, ...paths.hidden] : paths.hidden;
  const path = join(root, place.path);
  if (refused.some((each) => isAtOrBelow(path, each))) throw pathProtected(place.path);
  const identities = await identify(refused);
  if (identities.size === 0) return;
  const above = await Promise.all(place.above.map(({ handle }) => handle.stat({ bigint: true })));
  const own = await lstat(entryOf(place.folder, place.name), { bigint: true }).catch(undefinedIfMissing);
  const met = own ? [...above, own] : above;
  if (met.some((stats) => identities.has(identityOf(stats)))) throw pathProtected(place.path);
}

async function listEntries(place: Place): Promise<WorkspaceFile[]> {
  const folder = await openFolderIn(place.folder, place.name);
  try {
    const names = await readdir(entryOf(folder, "."));
    const prefix = place.path === "" ? "" : `${place.path}/`;
    const entries = names.sort().map((name) => ({ folder, name, path: prefix + name }));
    const described = await Promise.all(entries.map((entry) => describeEntry(entry).catch(undefinedIfUnknown)));
    return described.filter((entry) => entry !== undefined);
  } finally {
    await folder.handle.close();
  }
}

/** Gone since it was listed, or a pipe, socket or device, for which a listing has no type. */
function undefinedIfUnknown(error: unknown): undefined {
  if (!hasCode(error, "ENOENT", "validation_failed")) throw error;
}

async function remove(place: Place, given: string, { root, paths }: WorkspaceFilesOptions): Promise<void> {
  if (place.name === ".")
    throw pathRefused(given, "the workspace itself stays, and anything else must be given by its name");
  const path = join(root, place.path);
  if ([...paths.protected, ...paths.hidden].some((each) => isAtOrBelow(each, path))) throw pathProtected(given);
  await removeEntry(place);
}

function encode(content: string | Uint8Array, maxBytes: number): Uint8Array {
  const bytes = typeof content === "string" ? new TextEncoder().encode(content) : content;
  if (bytes.length <= maxBytes) return bytes;
  throw new AppError(
    "content_too_large",
    `The content has ${bytes.length} bytes; a file may have ${maxBytes}. Nothing was written.`,
    {
      details: { limit: maxBytes, size: bytes.length },
    },
  );
}

function decode(bytes: Uint8Array, path: string): string {
  try {
    return new TextDecoder("utf-8", { fatal: true, ignoreBOM: true }).decode(bytes);
  } catch (cause) {
    throw new AppError("validation_failed", `"${path}" is not UTF-8 text. Read it as bytes.`, {
      details: { path },
      cause,
    });
  }
}
