import { existsSync } from "node:fs";
import { delimiter, join } from "node:path";
import { unpackPackages } from "./debian-packages.ts";

export type FoundBubblewrap = { readonly file: string } | { readonly missing: string };

/**
 * Finds bwrap for the tests: installed, or unpacked from the Debian package into the cache, which installs nothing. Where
 * neither works the suites are skipped with the reason; with CI set that is a failure, or a test run could pass with
 * the isolation untested.
 */
export function findBubblewrap(): FoundBubblewrap {
  const found = findInstalled() ?? findUnpacked();
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

function findUnpacked(): FoundBubblewrap {
  if (process.platform !== "linux") return { missing: "it needs Linux." };
  const unpacked = unpackPackages("bubblewrap", ["bubblewrap"]);
  if ("missing" in unpacked) return { missing: `install the package bubblewrap (${unpacked.missing}).` };
  return { file: join(unpacked.folder, "usr", "bin", "bwrap") };
}
