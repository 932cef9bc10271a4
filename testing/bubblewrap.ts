import { spawnSync } from "node:child_process";
import { existsSync, globSync, mkdirSync, renameSync, rmSync } from "node:fs";
import { delimiter, join } from "node:path";
import { createTempDir } from "./temp-dir.ts";

export type FoundBubblewrap = { readonly file: string } | { readonly missing: string };

const cache = join(import.meta.dirname, "..", ".cache", "bubblewrap");

/**
 * Finds bwrap for the tests: installed, or unpacked from the Debian package into the cache, which installs nothing. Where
 * neither works the suites are skipped with the reason; with CI set that is a failure, or a test run could pass with
 * the isolation untested.
 */
export function findBubblewrap(): FoundBubblewrap {
  const found = findInstalled() ?? findUnpacked() ?? unpack();
  if ("missing" in found) {
    if (process.env["CI"]) throw new Error(`The tests of the bubblewrap sandbox cannot run: ${found.missing}`);
    console.warn(`SKIPPED: the bubblewrap sandbox is not tested here: ${found.missing}`);
  }
  return found;
}

function findInstalled(): FoundBubblewrap | undefined {
  const folders = (process.env["PATH"] ?? "").split(delimiter);
  const file = folders.map((folder) => join(folder, "bwrap")).find((each) => existsSync(each));
  return file ? { file } : undefined;
}

function findUnpacked(): FoundBubblewrap | undefined {
  const file = join(cache, "usr", "bin", "bwrap");
  return existsSync(file) ? { file } : undefined;
}

function unpack(): FoundBubblewrap {
  if (process.platform !== "linux") return { missing: "it needs Linux." };
  const dir = createTempDir("cognition-bubblewrap-");
  try {
    const download = run("apt-get", ["download", "bubblewrap"], dir.path);
    const [archive] = globSync("*.deb", { cwd: dir.path });
    if (!archive) return { missing: `install the package bubblewrap (apt-get download failed: ${download.trim()}).` };
    const failure = run("dpkg-deb", ["-x", archive, "unpacked"], dir.path);
    const unpacked = join(dir.path, "unpacked");
    if (!existsSync(join(unpacked, "usr", "bin", "bwrap"))) return { missing: `dpkg-deb failed: ${failure.trim()}` };
    return moveToCache(unpacked);
  } finally {
    dir.remove();
  }
}

/** Beside the cache first and then by a rename: another test file may be doing the same at this moment. */
function moveToCache(unpacked: string): FoundBubblewrap {
  mkdirSync(join(cache, ".."), { recursive: true });
  const beside = `${cache}.${process.pid}`;
  run("cp", ["-a", unpacked, beside], "/");
  try {
    renameSync(beside, cache);
  } catch (error) {
    rmSync(beside, { recursive: true, force: true });
    if (!findUnpacked()) throw error;
  }
  return { file: join(cache, "usr", "bin", "bwrap") };
}

function run(file: string, args: string[], cwd: string): string {
  const { stderr, error } = spawnSync(file, args, { cwd, encoding: "utf8" });
  return error?.message ?? stderr;
}
