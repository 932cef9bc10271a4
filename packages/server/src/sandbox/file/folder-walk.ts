import { mkdir, readlink } from "node:fs/promises";
import { MAX_PATH_LENGTH } from "@cognition/contract";
import { hasCode } from "../../file/error-text.ts";
import { entryOf, type OpenFolder, openFolder, openFolderIn } from "../../file/open-folder.ts";
import { giveToOwner } from "./file-access.ts";
import { fromSystemError, pathRefused, workspaceGone, wrongType } from "./file-error.ts";

/** A place in the workspace: a folder held open, and a name in it (`.` for the folder itself). */
export interface Place {
  readonly folder: OpenFolder;
  readonly name: string;
  /** From the root, without links: what the place is really called. */
  readonly path: string;
  /** The folders from the root to the one that holds it. */
  readonly above: readonly OpenFolder[];
}

export interface WalkOptions {
  /** The root and the other names that absolute paths may give it. */
  readonly root: string;
  readonly aliases: readonly string[];
  /** False: a link is itself the place. */
  readonly follow: boolean;
  /** Given, missing folders on the way are made, each after this has let it pass. */
  readonly beforeMake?: (place: Place) => Promise<void>;
}

interface Walk extends WalkOptions {
  readonly given: string;
  readonly folders: OpenFolder[];
  readonly names: string[];
  /** What is still to be walked, the next part last. */
  readonly rest: string[];
  hops: number;
}

const MAX_HOPS = 40;
/** Each folder on the way holds a descriptor, of which a process has about a thousand. */
const MAX_DEPTH = 200;

/**
 * Leads `use` to the place that `path` names. Each folder is opened by its name inside the folder before it and never by a
 * longer path, links are read and walked here rather than by the kernel, and `..` goes back to a folder that
 * is held open: so there is no moment in which a folder swapped for a link leads elsewhere. Checking with realpath
 * first and opening afterwards would leave one.
 */
export async function walkTo<T>(path: string, options: WalkOptions, use: (place: Place) => Promise<T>): Promise<T> {
  const walk: Walk = { ...options, given: path, folders: [], names: [], rest: [], hops: 0 };
  try {
    walk.folders.push(await openRoot(options.root));
    enter(walk, path);
    return await use(await advance(walk));
  } catch (error) {
    throw fromSystemError(error, path);
  } finally {
    await Promise.all(walk.folders.map((folder) => folder.handle.close()));
  }
}

async function openRoot(root: string): Promise<OpenFolder> {
  try {
    return await openFolder(root);
  } catch (cause) {
    throw workspaceGone(root, "Nothing was changed.", cause);
  }
}

function enter(walk: Walk, path: string): void {
  if (path.includes("\0")) throw pathRefused(path.replaceAll("\0", "\\0"), "it holds a NUL character");
  const inside = path.startsWith("/") ? stripRoot(walk, path) : path;
  const parts = inside.split("/").filter((part) => part !== "" && part !== ".");
  if (path.length > MAX_PATH_LENGTH || parts.length > MAX_DEPTH)
    throw pathRefused(
      `${path.slice(0, 100)}…`,
      `it is longer than ${MAX_PATH_LENGTH} characters or ${MAX_DEPTH} folders`,
    );
  walk.rest.push(...parts.reverse());
}

function stripRoot({ given, root, aliases }: Walk, path: string): string {
  const alias = [root, ...aliases].find((each) => path === each || path.startsWith(`${each}/`));
  if (alias === undefined) throw pathRefused(given, "it leads out of the workspace");
  return path.slice(alias.length + 1);
}

async function advance(walk: Walk): Promise<Place> {
  for (;;) {
    const part = walk.rest.pop();
    if (part === undefined) return placeAt(walk, ".");
    if (part === "..") {
      await goBack(walk);
      continue;
    }
    if (walk.rest.length > 0) await goInto(walk, part);
    else if (!(walk.follow && (await followLink(walk, part)))) return placeAt(walk, part);
  }
}

async function goBack({ given, folders, names }: Walk): Promise<void> {
  if (names.length === 0) throw pathRefused(given, "it leads out of the workspace");
  names.pop();
  await folders.pop()?.handle.close();
}

async function goInto(walk: Walk, name: string): Promise<void> {
  const folder = await openOrMake(walk, name);
  if (folder) {
    walk.folders.push(folder);
    walk.names.push(name);
  } else if (!(await followLink(walk, name))) {
    throw wrongType(walk.given, "below a folder");
  }
}

/** Undefined for a link, and for what is no folder. */
async function openOrMake(walk: Walk, name: string): Promise<OpenFolder | undefined> {
  const above = last(walk.folders);
  try {
    return await openFolderIn(above, name);
  } catch (error) {
    // Linux reports a link as the one or the other, by version.
    if (hasCode(error, "ENOTDIR", "ELOOP")) return undefined;
    if (!hasCode(error, "ENOENT") || !walk.beforeMake) throw error;
  }
  await walk.beforeMake(placeAt(walk, name));
  const isNew = await makeFolder(entryOf(above, name));
  const folder = await openFolderIn(above, name);
  if (isNew) await giveToOwner(above, folder.handle);
  return folder;
}

/** False if it is there already. */
async function makeFolder(path: string): Promise<boolean> {
  try {
    await mkdir(path);
    return true;
  } catch (error) {
    if (!hasCode(error, "EEXIST")) throw error;
    return false;
  }
}

/** Puts where a link leads in front of what is still to be walked; false if `name` is no link. */
async function followLink(walk: Walk, name: string): Promise<boolean> {
  let target: string;
  try {
    target = await readlink(entryOf(last(walk.folders), name));
  } catch (error) {
    if (hasCode(error, "EINVAL", "ENOENT")) return false;
    throw error;
  }
  if (++walk.hops > MAX_HOPS) throw pathRefused(walk.given, "its symbolic links go in a circle");
  if (target.startsWith("/")) await goToRoot(walk);
  enter(walk, target);
  return true;
}

async function goToRoot({ folders, names }: Walk): Promise<void> {
  await Promise.all(folders.splice(1).map((folder) => folder.handle.close()));
  names.length = 0;
}

function placeAt({ folders, names }: Walk, name: string): Place {
  const folder = last(folders);
  const path = [...names, ...(name === "." ? [] : [name])].join("/");
  return { folder, name, path, above: folders };
}

function last(folders: readonly OpenFolder[]): OpenFolder {
  const folder = folders.at(-1);
  if (!folder) throw new TypeError("the walk has left its root");
  return folder;
}
