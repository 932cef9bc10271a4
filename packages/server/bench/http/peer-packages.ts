import { spawnSync } from "node:child_process";
import { copyFileSync, existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { delimiter, dirname, join } from "node:path";
import { fileURLToPath } from "node:url";

/** Git-ignored. */
export const PEER_FOLDER = fileURLToPath(new URL("../../../../.cache/bench-peer", import.meta.url));
const RECIPE = fileURLToPath(new URL("./peer", import.meta.url));
const PROGRAMS = ["echo-graph.ts", "serve-peer.ts", "tell-parent.ts"];
/** Written last, so that an installation that was cut short is done again. */
const INSTALLED = join(PEER_FOLDER, "installed.json");

/** Installs what is compared with, in exact versions, unless it is there, and puts the programs beside it that run it. */
export function installPeer(log: (line: string) => void): void {
  mkdirSync(PEER_FOLDER, { recursive: true });
  for (const file of PROGRAMS) copyFileSync(join(import.meta.dirname, file), join(PEER_FOLDER, file));
  const lock = readFileSync(join(RECIPE, "package-lock.json"), "utf8");
  if (existsSync(INSTALLED) && readFileSync(INSTALLED, "utf8") === lock) return;
  log("Installing @langchain/langgraph-api into .cache/bench-peer, once …");
  for (const file of ["package.json", "package-lock.json"]) {
    copyFileSync(join(RECIPE, file), join(PEER_FOLDER, file));
  }
  // Not `ci`: it insists on optional packages of other platforms, which not every registry has. The versions are the lock's.
  const { status } = spawnSync("npm", ["install", "--no-audit", "--no-fund"], {
    cwd: PEER_FOLDER,
    stdio: ["ignore", "ignore", "inherit"],
    env: {
      ...process.env,
      // npm hands the workspace in which it was started on to the commands that it starts.
      npm_config_local_prefix: PEER_FOLDER,
      PATH: `${dirname(process.execPath)}${delimiter}${process.env["PATH"] ?? ""}`,
    },
    shell: process.platform === "win32",
  });
  if (status !== 0) throw new Error("What is compared with could not be installed. Run with --ours to leave it out.");
  writeFileSync(INSTALLED, lock);
}
