import { spawnSync } from "node:child_process";
import { type Program, unpackedProgram } from "./debian-packages.ts";

/** Debian's redis-server is a link to a program of redis-tools; the rest are libraries that a small system lacks. */
const PACKAGES = ["redis-server", "redis-tools", "libjemalloc2", "liblzf1", "libatomic1"];

/** The installed redis-server; else Debian's, unpacked into .cache without installing it. */
export function locateRedis(): Program | { readonly missing: string } {
  if (spawnSync("redis-server", ["--version"]).status === 0) return { file: "redis-server", env: {} };
  return unpackedProgram("redis", PACKAGES, "usr/bin/redis-server");
}
