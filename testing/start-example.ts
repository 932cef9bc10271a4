import { spawn } from "node:child_process";
import { join } from "node:path";
import { type RunningCli, watch } from "../packages/cli/test/cli-process.ts";

const examples = join(import.meta.dirname, "../examples");

/** A program of examples/, as a person would start it; nothing of this process's own configuration reaches it. */
export function startExample(file: string, args: readonly string[], env: Record<string, string> = {}): RunningCli {
  const child = spawn(process.execPath, ["--conditions=cognition-source", join(examples, file), ...args], {
    env: { PATH: process.env["PATH"], ...env },
    stdio: ["ignore", "pipe", "pipe"],
  });
  return watch(child, [child.stdout, child.stderr]);
}
