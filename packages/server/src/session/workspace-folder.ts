import { chmodSync, statSync } from "node:fs";
import { realpath, rm } from "node:fs/promises";
import { dirname, isAbsolute, relative, resolve, sep } from "node:path";
import { AppError, type Session } from "@cognition/contract";
import type { Storage } from "@cognition/thread";
import { makeFolders } from "@cognition/thread/make-folders";
import { hasCode, messageOf } from "../file/error-text.ts";
import { sessionNotFound } from "./while-there.ts";

/** Below the root, and no session's: agents, tools and configuration are read from there. */
const RESERVED = ".cognition";

/**
 * Where a session works, as an absolute path. A session without a path of its own has a folder that the server made,
 * named after it; a path is stored relative to the root, so that the root can be moved.
 */
export function workspaceOf(root: string, { id, workspace_path }: Pick<Session, "id" | "workspace_path">): string {
  const workspace = resolve(root, workspace_path ?? id);
  if (isInside(resolve(root), workspace)) return workspace;
  const message = `The workspace of session ${id} is outside of the workspace root; nothing was run. Give a path inside of it.`;
  throw new AppError("workspace_path_refused", message);
}

/** Whether the folder goes with the session: only the one that the server made for it. */
export function ownsFolder({ workspace_path }: Pick<Session, "workspace_path">): boolean {
  return workspace_path === null;
}

/** A session as callers see it. */
export function presentSession(root: string, session: Session): Session {
  return { ...session, workspace_path: workspaceOf(root, session) };
}

/**
 * Makes a session's folder unless it is there. Not for one that was deleted meanwhile: nobody would ever remove it again.
 * Whoever deletes a session removes its folder after that, so a folder made before this look is removed with the rest.
 */
export async function makeFolder(
  storage: Pick<Storage, "getSession">,
  root: string,
  session: Pick<Session, "id" | "workspace_path">,
): Promise<string> {
  const folder = workspaceOf(root, session);
  const isNew = makeSessionFolder(folder);
  if (ownsFolder(session)) keepOpen(folder);
  if (!isNew || (await storage.getSession(session.id))) return folder;
  if (ownsFolder(session)) await rm(folder, { recursive: true, force: true });
  throw sessionNotFound(session.id);
}

/** Whether it was not there. */
export function makeSessionFolder(folder: string): boolean {
  try {
    return makeFolders(folder);
  } catch (error) {
    throw hasCode(error, "EEXIST", "ENOTDIR") ? noFolder(folder) : unmade(folder, error);
  }
}

/** Makes the folder that all sessions work in, unless it is there. */
export function makeRoot(root: string): void {
  try {
    makeFolders(resolve(root));
  } catch (cause) {
    const message = `The workspace ${root} can't be made: ${messageOf(cause)}. Nothing was started.`;
    throw new AppError("invalid_config", message, { cause });
  }
}

/**
 * A command may have closed the session's own folder to its owner (`chmod -R 644 .`): no later one could start there, to
 * take it back. For root it is open whatever its mode says.
 */
export function keepOpen(folder: string): void {
  const mode = statSync(folder, { throwIfNoEntry: false })?.mode;
  if (mode === undefined || (mode & 0o700) === 0o700) return;
  try {
    chmodSync(folder, (mode & 0o7777) | 0o700);
  } catch (error) {
    // It is somebody else's by now, and what is done in it tells what it may not.
    if (!hasCode(error, "EPERM", "ENOENT")) throw error;
  }
}

export function noFolder(folder: string): AppError {
  const message = `The workspace "${folder}" is a file, or below one; nothing was changed. Move it away.`;
  return new AppError("workspace_path_refused", message);
}

function unmade(folder: string, cause: unknown): AppError {
  const message = `The workspace "${folder}" can't be made: ${messageOf(cause)}`;
  return new AppError("workspace_path_refused", message, { cause });
}

/** Checks a path that a caller gave, makes the folder if it is not there, and gives the path as it is stored. */
export async function useGivenFolder(root: string, given: string): Promise<string> {
  const refuse = (why: string) => new AppError("workspace_path_refused", `The workspace_path "${given}" ${why}`);
  if (!isAbsolute(given)) throw refuse("must be absolute");
  const top = resolve(root);
  const way = relative(top, resolve(given));
  if (!isInside(top, resolve(given))) throw refuse(`must be inside of ${top}`);
  if (way.split(sep)[0] === RESERVED) throw refuse(`is the server's own; choose another folder inside of ${top}`);
  // A link on the way may lead out, or to what is reserved: what counts is where it ends.
  const [realTop, real] = await Promise.all([realpath(top), realOfNearest(resolve(given))]);
  if (!isInside(realTop, real) || isInside(resolve(realTop, RESERVED), real)) throw refuse(`leads out of ${top}`);
  try {
    makeFolders(resolve(given));
  } catch (error) {
    throw refuse(
      hasCode(error, "EEXIST", "ENOTDIR") ? "is a file, or below one" : `can't be made: ${messageOf(error)}`,
    );
  }
  return way === "" ? "." : way;
}

function isInside(folder: string, path: string): boolean {
  const way = relative(folder, path);
  return way !== ".." && !way.startsWith(`..${sep}`) && !isAbsolute(way);
}

/** The real path of the deepest folder on the way that exists. */
async function realOfNearest(path: string): Promise<string> {
  try {
    return await realpath(path);
  } catch (error) {
    if (!hasCode(error, "ENOENT", "ENOTDIR") || dirname(path) === path) throw error;
    return realOfNearest(dirname(path));
  }
}
