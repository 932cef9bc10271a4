import { spawnSync } from "node:child_process";
import { existsSync, globSync, mkdirSync, mkdtempSync, renameSync, rmSync } from "node:fs";
import { join } from "node:path";

const cache = join(import.meta.dirname, "..", ".cache");

export type Unpacked = { readonly folder: string } | { readonly missing: string };

/** Debian packages unpacked into .cache/`name`, without installing them. Needs apt-get, not root. */
export function unpackPackages(name: string, packages: readonly string[]): Unpacked {
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

function download(folder: string, packages: readonly string[]): string | undefined {
  const fetch = () => spawnSync("apt-get", ["-qq", "download", ...packages], { cwd: folder, encoding: "utf8" });
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
