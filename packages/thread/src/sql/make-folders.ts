import { mkdirSync, statSync } from "node:fs";
import { dirname } from "node:path";

/** Makes a folder and those above it. Not by Node's own `recursive`, which never ends where the system makes none, as below /proc. */
export function makeFolders(folder: string): void {
  if (statSync(folder, { throwIfNoEntry: false })?.isDirectory()) return;
  if (dirname(folder) !== folder) makeFolders(dirname(folder));
  try {
    mkdirSync(folder);
  } catch (error) {
    // Another process was first.
    if (!statSync(folder, { throwIfNoEntry: false })?.isDirectory()) throw error;
  }
}
