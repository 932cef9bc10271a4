import { type HeldFolder, holdIn, holdRoot, isGone } from "./held-folder.ts";
import { type PathChange, splitPath } from "./path-change.ts";

type Use = (folder: HeldFolder | undefined, name: string, change: PathChange) => void;

/** Leads to the folder of each change, in the order given; to none where it isn't there, or is no folder. */
export function inFolders(root: string, changes: readonly PathChange[], use: Use): void {
  holdRoot(root, (top) => {
    for (let i = 0; i < changes.length; ) {
      const { folder } = splitPath((changes[i] as PathChange).path);
      let end = i;
      while (end < changes.length && splitPath((changes[end] as PathChange).path).folder === folder) end++;
      const group = changes.slice(i, end);
      i = end;
      descend(top, folder === "" ? [] : folder.split("/"), (held) => {
        for (const change of group) use(held, splitPath(change.path).name, change);
      });
    }
  });
}

function descend(folder: HeldFolder, names: readonly string[], use: (folder: HeldFolder | undefined) => void): void {
  const [name, ...rest] = names;
  if (name === undefined) {
    use(folder);
    return;
  }
  let entered = false;
  try {
    holdIn(folder, name, (inner) => {
      entered = true;
      descend(inner, rest, use);
    });
  } catch (error) {
    if (entered || !isGone(error)) throw error;
    use(undefined);
  }
}
