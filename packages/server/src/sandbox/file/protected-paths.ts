import type { BigIntStats } from "node:fs";
import { stat } from "node:fs/promises";
import { resolve } from "node:path";
import { resolveExisting } from "../../file/resolve-existing.ts";

/** Paths that agents may not change (`protected`) or not even see (`hidden`): absolute, or relative to the workspace. */
export interface ProtectedPathNames {
  readonly protected: readonly string[];
  readonly hidden: readonly string[];
}

/** Absolute and without links as far as they exist. */
export interface ProtectedPaths {
  readonly protected: readonly string[];
  readonly hidden: readonly string[];
}

/** What SQLite keeps beside a database. Each may hold what the database holds. */
const DATABASE_COMPANIONS = ["-wal", "-shm", "-journal"];

export function databaseFiles(file: string): string[] {
  return [file, ...DATABASE_COMPANIONS.map((suffix) => file + suffix)];
}

export function resolveProtectedPaths(root: string, names: ProtectedPathNames): ProtectedPaths {
  const all = (list: readonly string[]) => list.map((name) => resolveExisting(resolve(root, name)));
  return { protected: all(names.protected), hidden: all(names.hidden) };
}

export function isAtOrBelow(path: string, folder: string): boolean {
  return path === folder || path.startsWith(folder.endsWith("/") ? folder : `${folder}/`);
}

/**
 * Which files the paths are right now. A hard link, or another spelling where the file system knows no upper and lower
 * case, is the same file under a path that looks free.
 */
export async function identify(paths: readonly string[]): Promise<ReadonlySet<string>> {
  const found = await Promise.all(paths.map((path) => stat(path, { bigint: true }).catch(() => undefined)));
  return new Set(found.flatMap((stats) => (stats ? [identityOf(stats)] : [])));
}

export function identityOf({ dev, ino }: Pick<BigIntStats, "dev" | "ino">): string {
  return `${dev}:${ino}`;
}
