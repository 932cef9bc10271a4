import { spawnSync } from "node:child_process";
import { copyFileSync, existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { delimiter, dirname, join } from "node:path";
import { fileURLToPath } from "node:url";

/** Git-ignored. */
export const OFFICIAL_FOLDER = fileURLToPath(new URL("../../../.cache/bench-official", import.meta.url));
const RECIPE = fileURLToPath(new URL("./official", import.meta.url));
/** Written last, so that an installation that was cut short is done again. */
const INSTALLED = join(OFFICIAL_FOLDER, "installed.json");

/** Installs what is compared with, in exact versions, unless it is there. */
export function installOfficial(log: (line: string) => void): void {
  const lock = readFileSync(join(RECIPE, "package-lock.json"), "utf8");
  const wanted = `${process.version}\n${lock}`;
  if (existsSync(INSTALLED) && readFileSync(INSTALLED, "utf8") === wanted) return;
  log("Installing the official savers into .cache/bench-official, once; better-sqlite3 may compile for minutes …");
  mkdirSync(OFFICIAL_FOLDER, { recursive: true });
  for (const file of ["package.json", "package-lock.json"]) {
    copyFileSync(join(RECIPE, file), join(OFFICIAL_FOLDER, file));
  }
  const { status } = spawnSync("npm", ["ci", "--no-audit", "--no-fund"], {
    cwd: OFFICIAL_FOLDER,
    stdio: ["ignore", "ignore", "inherit"],
    env: forThisNode(),
    shell: process.platform === "win32",
  });
  if (status !== 0) throw new Error("The official savers could not be installed. Run with --ours to leave them out.");
  writeFileSync(INSTALLED, wanted);
}

/** Native code must be compiled for the Node that will load it, which need not be the one that npm itself runs on. */
function forThisNode(): NodeJS.ProcessEnv {
  const bin = dirname(process.execPath);
  const headers = existsSync(join(bin, "../include/node/node.h")) ? { npm_config_nodedir: join(bin, "..") } : {};
  // npm hands the workspace in which it was started on to the commands that it starts.
  const prefix = { npm_config_local_prefix: OFFICIAL_FOLDER };
  return { ...process.env, ...headers, ...prefix, PATH: `${bin}${delimiter}${process.env["PATH"] ?? ""}` };
}
