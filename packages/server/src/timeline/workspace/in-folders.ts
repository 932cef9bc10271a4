import { type HeldFolder, holdIn, holdRoot, isGone } from "./held-folder.ts";
import { holdToWrite, whileWritable } from "./locked-folder.ts";
import { type PathChange, splitPath } from "./path-change.ts";
import { isClosedTo } from "./read-entry.ts";

type Use = (folder: HeldFolder | undefined, name: string, change: PathChange) => void;

interface Way {
  readonly enter: typeof holdIn;
  readonly at: typeof whileWritable;
  /** What opening a folder throws where the way ends. */
  readonly isEnd: (error: unknown) => boolean;
}

const READING: Way = {
  enter: holdIn,
  at: (_folder, work) => work(),
  isEnd: (error) => isGone(error) || isClosedTo(error),
};
const WRITING: Way = { enter: holdToWrite, at: whileWritable, isEnd: isGone };

/** Leads to the folder of each change, in the order given; to none where it isn't there, is no folder, or can't be read. */
export function inFolders(root: string, changes: readonly PathChange[], use: Use): void {
  lead(root, changes, use, READING);
}

/** The same, for changing them: also where a folder is closed to its owner. */
export function changeInFolders(root: string, changes: readonly PathChange[], use: Use): void {
  lead(root, changes, use, WRITING);
}

function lead(root: string, changes: readonly PathChange[], use: Use, way: Way): void {
  holdRoot(root, (top) => {
    for (let i = 0; i < changes.length; ) {
      const { folder } = splitPath((changes[i] as PathChange).path);
      let end = i;
      while (end < changes.length && splitPath((changes[end] as PathChange).path).folder === folder) end++;
      const group = changes.slice(i, end);
      i = end;
      descend(top, folder === "" ? [] : folder.split("/"), way, (held) => {
        for (const change of group) use(held, splitPath(change.path).name, change);
      });
    }
  });
}

function descend(
  folder: HeldFolder,
  names: readonly string[],
  way: Way,
  use: (folder: HeldFolder | undefined) => void,
): void {
  const [name, ...rest] = names;
  if (name === undefined) {
    way.at(folder, () => use(folder));
    return;
  }
  let entered = false;
  try {
    way.enter(folder, name, (inner) => {
      entered = true;
      descend(inner, rest, way, use);
    });
  } catch (error) {
    if (entered || !way.isEnd(error)) throw error;
    use(undefined);
  }
}
