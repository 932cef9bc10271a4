import { spawnSync } from "node:child_process";
import { globSync } from "node:fs";
import { join } from "node:path";
import { type Browser, chromium } from "playwright-core";
import { unpackPackages } from "./debian-packages.ts";

type Program = { readonly file: string; readonly env: Record<string, string> } | { readonly missing: string };

/** As root it has no sandbox of its own; pages of tests are ours. Nothing of the browser's own goes to the network. */
const FLAGS = [
  "--no-sandbox",
  "--disable-gpu",
  "--disable-quic",
  "--no-first-run",
  "--disable-background-networking",
  "--disable-component-update",
  "--disable-sync",
];

const START_DEADLINE_MS = 120_000;

/**
 * A real Chromium: TEST_CHROMIUM, the installed one, or Debian's, unpacked without installing it together with the libraries
 * that this machine lacks. Where none can be had the reason is returned; with CI set that is a failure.
 */
export async function openBrowser(): Promise<Browser | { readonly missing: string }> {
  const program = locateBrowser();
  if ("missing" in program) {
    if (process.env["CI"]) throw new Error(`The tests in a browser cannot run: ${program.missing}`);
    console.warn(`SKIPPED: nothing is tested in a browser here: ${program.missing}`);
    return program;
  }
  const env = { ...process.env, ...program.env };
  return chromium.launch({ executablePath: program.file, args: FLAGS, env, timeout: START_DEADLINE_MS });
}

function locateBrowser(): Program {
  const named = process.env["TEST_CHROMIUM"];
  const installed = [...(named ? [named] : []), "/usr/bin/chromium", "/usr/bin/google-chrome"];
  const file = installed.find((each) => runs(each, {}));
  return file ? { file, env: {} } : unpackBrowser();
}

function unpackBrowser(): Program {
  const packages = lacking("chromium");
  if (packages.length === 0) return { missing: "apt-get knows no package chromium; install a Chromium" };
  const unpacked = unpackPackages("chromium", packages);
  if ("missing" in unpacked) return unpacked;
  // Some packages keep libraries of their own in a folder below.
  const libraries = globSync(
    ["usr/lib/*-linux-gnu*", "usr/lib/*-linux-gnu*/*/"].map((at) => join(unpacked.folder, at)),
  );
  const program = {
    file: join(unpacked.folder, "usr/lib/chromium/chromium"),
    env: { LD_LIBRARY_PATH: libraries.join(":") },
  };
  return runs(program.file, program.env)
    ? program
    : { missing: `the Chromium in ${unpacked.folder} does not run; remove that folder, or install one` };
}

/** The package and all it needs that is not installed. Simulating needs no root and changes nothing. */
function lacking(name: string): string[] {
  const args = ["-qq", "-y", "--simulate", "--no-install-recommends", "install", name];
  const ask = () => spawnSync("apt-get", args, { encoding: "utf8" }).stdout ?? "";
  let answer = ask();
  if (answer === "") {
    // A fresh image has no package lists.
    spawnSync("apt-get", ["-qq", "update"]);
    answer = ask();
  }
  return [...answer.matchAll(/^Inst (\S+)/gm)].map(([, found = ""]) => found);
}

function runs(file: string, env: Record<string, string>): boolean {
  return spawnSync(file, ["--version"], { env: { ...process.env, ...env } }).status === 0;
}
