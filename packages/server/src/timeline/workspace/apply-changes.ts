import {
  chmodSync,
  closeSync,
  constants,
  fchmodSync,
  fstatSync,
  lchownSync,
  lstatSync,
  mkdirSync,
  openSync,
  readdirSync,
  renameSync,
  rmdirSync,
  symlinkSync,
  unlinkSync,
  writeSync,
} from "node:fs";
import { hasCode } from "../../file/error-text.ts";
import { UNFINISHED } from "../../file/unfinished.ts";
import { entryAt } from "./check-changes.ts";
import { entryPath, fsPath, type HeldFolder, holdRoot, isGone, listingPath, toText } from "./held-folder.ts";
import { changeInFolders } from "./in-folders.ts";
import { holdToWrite, whileWritable } from "./locked-folder.ts";
import { moveAside } from "./move-aside.ts";
import { isSameEntry, type PathChange, splitPath } from "./path-change.ts";
import { WorkspaceProblem } from "./workspace-problem.ts";

/** Takes away what the changes leave out, the deepest first. A folder that still holds something stays. */
export function removePaths(root: string, changes: readonly PathChange[]): void {
  changeInFolders(root, changes, (folder, name) => {
    if (!folder) return;
    const path = fsPath(entryPath(folder, name));
    const current = entryAt(folder, name);
    if (current?.type === "tree") ignoring(["ENOTEMPTY", "EEXIST", "ENOENT", "EBUSY"], () => rmdirSync(path));
    else if (current) ignoring(["ENOENT"], () => unlinkSync(path));
  });
}

/** The highest first, so that each has a folder to be in. */
export function makeFolders(root: string, changes: readonly PathChange[]): void {
  changeInFolders(root, changes, (folder, name, { path }) => {
    if (!folder) throw inTheWay(path);
    makeFolder(folder, name);
    if (entryAt(folder, name)?.type !== "tree") throw inTheWay(path);
  });
}

/** Each file as a whole or not at all: beside its place first, then into it. */
export function writeFiles(
  root: string,
  changes: readonly PathChange[],
  contents: ReadonlyMap<string, Uint8Array>,
): void {
  changeInFolders(root, changes, (folder, name, { path, after }) => {
    if (!folder || !after) throw inTheWay(path);
    if (isSameEntry(entryAt(folder, name), after)) return;
    const content = contents.get(after.hash);
    if (!content) throw new Error(`No content was given for ${toText(path)}`);
    const unfinished = `${UNFINISHED.restored}${process.pid}`;
    const beside = fsPath(entryPath(folder, unfinished));
    tidy(folder, beside);
    if (after.type === "link") symlinkSync(Buffer.from(content), beside);
    else writeWhole(beside, content, after.mode);
    giveToOwner(folder, unfinished);
    moveInto(beside, fsPath(entryPath(folder, name)), path);
  });
}

/** Moves what nobody knows of out of the way, to a name of its own beside its place. */
export function setAside(root: string, changes: readonly PathChange[], suffix: string): void {
  changeInFolders(root, changes, (folder, name) => {
    if (!folder || !entryAt(folder, name)) return;
    moveAside(folder, name, suffix);
  });
}

/** Makes the way free for what is to be written: what is in its place moves beside it, folders that are gone are made anew. */
export function clearWay(root: string, changes: readonly PathChange[], suffix: string): void {
  const folders = new Set(changes.map(({ path }) => splitPath(path).folder).filter((folder) => folder !== ""));
  holdRoot(root, (top) => {
    whileWritable(top, () => {
      for (const folder of folders) clearTo(top, folder.split("/"), suffix);
    });
  });
  changeInFolders(root, changes, (folder, name, { after }) => {
    if (folder) clearPlace(folder, name, { forFolder: after?.type === "tree", suffix });
  });
}

function clearTo(folder: HeldFolder, [name, ...rest]: readonly string[], suffix: string): void {
  if (name === undefined) return;
  clearPlace(folder, name, { forFolder: true, suffix });
  makeFolder(folder, name);
  holdToWrite(folder, name, (inner) => clearTo(inner, rest, suffix));
}

function clearPlace(
  folder: HeldFolder,
  name: string,
  { forFolder, suffix }: { forFolder: boolean; suffix: string },
): void {
  const found = lstatSync(fsPath(entryPath(folder, name)), { throwIfNoEntry: false });
  if (found && found.isDirectory() !== forFolder) moveAside(folder, name, suffix);
}

function makeFolder(folder: HeldFolder, name: string): void {
  ignoring(["EEXIST"], () => {
    mkdirSync(fsPath(entryPath(folder, name)), 0o755);
    giveToOwner(folder, name);
  });
}

export function setModes(root: string, changes: readonly PathChange[]): void {
  changeInFolders(root, changes, (folder, name, { after }) => {
    if (folder && after && entryAt(folder, name)?.type === "tree")
      chmodSync(fsPath(entryPath(folder, name)), after.mode);
  });
}

/** What root restores in a folder of somebody else's belongs to that one, whose commands could not change it otherwise. */
function giveToOwner(folder: HeldFolder, name: string): void {
  if (process.getuid?.() !== 0) return;
  const { uid, gid } = fstatSync(folder.fd);
  if (uid !== 0) lchownSync(fsPath(entryPath(folder, name)), uid, gid);
}

const NEW_FILE = constants.O_WRONLY | constants.O_CREAT | constants.O_EXCL | constants.O_NOFOLLOW;

function writeWhole(path: string | Buffer, content: Uint8Array, mode: number): void {
  const fd = openSync(path, NEW_FILE, 0o600);
  try {
    for (let at = 0; at < content.length; ) at += writeSync(fd, content, at);
    fchmodSync(fd, mode);
  } finally {
    closeSync(fd);
  }
}

function moveInto(beside: string | Buffer, place: string | Buffer, path: string): void {
  try {
    renameSync(beside, place);
  } catch (error) {
    unlinkSync(beside);
    throw hasCode(error, "EISDIR", "ENOTEMPTY", "EEXIST") ? inTheWay(path) : error;
  }
}

/** The last one that was looked through: for each file anew, many files would take many times as long. */
let tidied = "";

function tidy(folder: HeldFolder, beside: string | Buffer): void {
  if (folder.path !== tidied) removeUnfinished(folder);
  else if (lstatSync(beside, { throwIfNoEntry: false })) unlinkSync(beside);
  tidied = folder.path;
}

/** What a restore that was killed in this folder has left. */
function removeUnfinished(folder: HeldFolder): void {
  for (const name of readdirSync(listingPath(folder), { encoding: "latin1" })) {
    if (name.startsWith(UNFINISHED.restored)) ignoring(["ENOENT"], () => unlinkSync(fsPath(entryPath(folder, name))));
  }
}

function ignoring(codes: readonly string[], work: () => void): void {
  try {
    work();
  } catch (error) {
    if (isGone(error) && codes.includes("ENOENT")) return;
    if (!hasCode(error, ...codes)) throw error;
  }
}

function inTheWay(path: string): WorkspaceProblem {
  const message =
    `"${toText(path)}" can't be restored: something that no snapshot holds is in its place. What was restored so far is ` +
    "kept, and the rest follows once it is moved away.";
  return new WorkspaceProblem("file_conflict", message, { files: [toText(path)] });
}
