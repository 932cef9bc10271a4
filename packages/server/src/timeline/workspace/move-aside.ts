import { lstatSync, renameSync } from "node:fs";
import { entryPath, fsPath, type HeldFolder } from "./held-folder.ts";

/** Of a name, in bytes: more is taken by no file system of Linux. */
const MAX_NAME = 255;

/** Moves an entry to a name of its own beside its place: its name, as much of it as there is room for, and the suffix. */
export function moveAside(folder: HeldFolder, name: string, suffix: string): void {
  let beside = besideOf(folder, name, suffix);
  for (let count = 2; lstatSync(beside, { throwIfNoEntry: false }); count++)
    beside = besideOf(folder, name, `${suffix}-${count}`);
  renameSync(fsPath(entryPath(folder, name)), beside);
}

function besideOf(folder: HeldFolder, name: string, suffix: string): string | Buffer {
  let end = MAX_NAME - suffix.length;
  // Not in the middle of a character, or what is UTF-8 would be it no more.
  while (name.length > end && isContinuation(name, end)) end--;
  return fsPath(entryPath(folder, `${name.slice(0, end)}${suffix}`));
}

/** A name is bytes, one character each (latin1). */
function isContinuation(name: string, at: number): boolean {
  return (name.charCodeAt(at) & 0xc0) === 0x80;
}
