import { spawnSync } from "node:child_process";
import { existsSync, globSync, mkdirSync, mkdtempSync, renameSync, rmSync } from "node:fs";
import { join } from "node:path";

const cache = join(import.meta.dirname, "..", ".cache");

export type Unpacked = { readonly folder: string } | { readonly missing: string };

/** A program to start, and what it needs in its environment. */
export interface Program {
  readonly file: string;
  readonly env: Record<string, string>;
}

/** A program of such packages, with its libraries; `path` is where it is in them. */
export function unpackedProgram(
  name: string,
  packages: Packages,
  path: string,
): Program | { readonly missing: string } {
  const unpacked = unpackPackages(name, packages);
  if ("missing" in unpacked) return unpacked;
  const { folder } = unpacked;
  const libraries = globSync(join(folder, "usr/lib/*-linux-gnu*")).concat(join(folder, "usr/lib"));
  const program = { file: join(folder, path), env: { LD_LIBRARY_PATH: libraries.join(":") } };
  if (spawnSync(program.file, ["--version"], { env: { ...process.env, ...program.env } }).status === 0) return program;
  return { missing: `${program.file} does not run; remove ${folder}` };
}

/** As a function it is asked when there are package lists to look into. */
type Packages = readonly string[] | (() => readonly string[]);

/** A package and the libraries that it needs, by the names that they have in this release of Debian. */
export function withLibraries(name: string): Packages {
  return () => {
    const { stdout } = spawnSync("apt-cache", ["depends", name], { encoding: "utf8" });
    const needed = [...(stdout ?? "").matchAll(/^\s*Depends: (lib\S+)$/gm)].map(([, library]) => library as string);
    return [name, ...needed.filter((library) => library !== "libc6")];
  };
}

/** Debian packages unpacked into .cache/`name`, without installing them. Needs apt-get, not root. */
export function unpackPackages(name: string, packages: Packages): Unpacked {
  const folder = join(cache, name);
  if (existsSync(folder)) return { folder };
  mkdirSync(cache, { recursive: true });
  const work = mkdtempSync(join(cache, `${name}-`));
  try {
    const missing = download(work, packages) ?? unpack(work);
    if (missing) return { missing };
    moveInto(folder, join(work, "root"));
    return { folder };
  } finally {
    rmSync(work, { recursive: true, force: true });
  }
}

function download(folder: string, packages: Packages): string | undefined {
  const fetch = () => {
    const names = typeof packages === "function" ? packages() : packages;
    return spawnSync("apt-get", ["-qq", "download", ...names], { cwd: folder, encoding: "utf8" });
  };
  let fetched = fetch();
  if (fetched.status !== 0) {
    // A fresh image has no package lists.
    spawnSync("apt-get", ["-qq", "update"]);
    fetched = fetch();
  }
  return fetched.status === 0 ? undefined : `apt-get download failed: ${fetched.error?.message ?? fetched.stderr}`;
}

function unpack(folder: string): string | undefined {
  for (const archive of globSync(join(folder, "*.deb"))) {
    const { status, stderr } = spawnSync("dpkg-deb", ["-x", archive, join(folder, "root")], { encoding: "utf8" });
    if (status !== 0) return `dpkg-deb failed: ${stderr}`;
  }
  return undefined;
}

/** When it is whole, so that a run that is cut off leaves nothing that looks complete; another test file may be first. */
function moveInto(folder: string, made: string): void {
  try {
    renameSync(made, folder);
  } catch (error) {
    if (!existsSync(folder)) throw error;
  }
}
