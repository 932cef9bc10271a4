import { spawnSync } from "node:child_process";
import { existsSync, globSync, mkdirSync, mkdtempSync, renameSync, rmSync } from "node:fs";
import { join } from "node:path";

const cache = join(import.meta.dirname, "../.cache");
const installed = join(cache, "redis");
/** Debian's redis-server is a link to a program of redis-tools; the rest are libraries that a small system lacks. */
const PACKAGES = ["redis-server", "redis-tools", "libjemalloc2", "liblzf1", "libatomic1"];

interface Program {
  readonly file: string;
  readonly env: Record<string, string>;
}

/** The installed redis-server; else, as root where there is apt, Debian's, unpacked into .cache without installing it. */
export function locateRedis(): Program | { readonly missing: string } {
  if (runs({ file: "redis-server", env: {} })) return { file: "redis-server", env: {} };
  if (!existsSync(installed)) {
    const isRoot = process.platform === "linux" && process.getuid?.() === 0;
    if (!isRoot || spawnSync("apt-get", ["--version"]).status !== 0) {
      return {
        missing: "there is no redis-server, and only root on Debian can fetch one; install it or set TEST_REDIS_URL",
      };
    }
    const problem = unpack();
    if (problem) return { missing: problem };
  }
  const libraries = globSync(join(installed, "usr/lib/*-linux-gnu*")).concat(join(installed, "usr/lib"));
  const program = { file: join(installed, "usr/bin/redis-server"), env: { LD_LIBRARY_PATH: libraries.join(":") } };
  return runs(program) ? program : { missing: `the redis-server in ${installed} does not run; remove that folder` };
}

function runs({ file, env }: Program): boolean {
  return spawnSync(file, ["--version"], { env: { ...process.env, ...env } }).status === 0;
}

/** Moved into place when it is whole, so that a run that is cut off leaves nothing that looks installed. */
function unpack(): string | undefined {
  mkdirSync(cache, { recursive: true });
  const folder = mkdtempSync(join(cache, "redis-"));
  try {
    const download = () => spawnSync("apt-get", ["download", ...PACKAGES], { cwd: folder, encoding: "utf8" });
    let fetched = download();
    if (fetched.status !== 0) {
      // A fresh image has no package lists.
      spawnSync("apt-get", ["update"]);
      fetched = download();
    }
    if (fetched.status !== 0) return `apt-get download failed: ${fetched.stderr}`;
    for (const archive of globSync(join(folder, "*.deb"))) {
      const unpacked = spawnSync("dpkg-deb", ["-x", archive, join(folder, "root")], { encoding: "utf8" });
      if (unpacked.status !== 0) return `dpkg-deb failed: ${unpacked.stderr}`;
    }
    renameSync(join(folder, "root"), installed);
    return undefined;
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}
