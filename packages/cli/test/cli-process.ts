import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { join } from "node:path";
import type { Readable } from "node:stream";
import { text } from "node:stream/consumers";

const MAIN = join(import.meta.dirname, "../src/main.ts");
const NODE = ["--conditions=cognition-source", MAIN];

/** Only what hangs gets there. */
const DEADLINE_MS = 120_000;

export interface CliOptions {
  readonly cwd: string;
  readonly env?: Readonly<Record<string, string>>;
  readonly input?: string;
}

export interface CliResult {
  readonly code: number | null;
  readonly output: string;
  readonly errors: string;
}

/** Nothing of this process's own configuration reaches the command. */
function environment({ cwd, env }: CliOptions): Record<string, string> {
  return { PATH: process.env["PATH"] ?? "", HOME: join(cwd, "no-home"), ...env };
}

/** Runs `cognition …` as a person would, to its end. */
export async function runCli(args: readonly string[], options: CliOptions): Promise<CliResult> {
  const child = spawn(process.execPath, [...NODE, ...args], {
    cwd: options.cwd,
    env: environment(options),
    stdio: "pipe",
  });
  const ended = once(child, "close");
  // A command that does not end must not outlive its test.
  const late = setTimeout(() => child.kill("SIGKILL"), DEADLINE_MS);
  child.stdin.end(options.input ?? "");
  const [output, errors] = await Promise.all([text(child.stdout), text(child.stderr)]);
  await ended;
  clearTimeout(late);
  return { code: child.exitCode, output, errors };
}

export interface RunningCli {
  readonly child: ChildProcess;
  /** What it has written so far. */
  seen(): string;
  /** Waits until its output matches, from where the last match ended; fails with all of it after the deadline. */
  until(pattern: RegExp, withinMs?: number): Promise<void>;
  type(text: string): void;
  readonly exited: Promise<number | null>;
}

/** In a terminal of its own, so that Ctrl-C and prompts are the real ones. */
export function startInTerminal(args: readonly string[], options: CliOptions): RunningCli {
  const quoted = [process.execPath, ...NODE, ...args].map((part) => `'${part}'`).join(" ");
  const child = spawn("script", ["-qefc", quoted, "/dev/null"], {
    cwd: options.cwd,
    env: environment(options),
    stdio: "pipe",
  });
  return watch(child, [child.stdout]);
}

export interface Served extends RunningCli {
  readonly url: string;
}

/** `cognition serve`, once it says on its spare file descriptor that it takes requests. */
export async function startServe(args: readonly string[], options: CliOptions): Promise<Served> {
  const child = spawn(process.execPath, [...NODE, "serve", "--port", "0", "--ready-fd", "3", ...args], {
    cwd: options.cwd,
    env: environment(options),
    stdio: ["ignore", "pipe", "pipe", "pipe"],
  });
  const running = watch(child, [child.stdout as Readable, child.stderr as Readable]);
  const ready = once(child.stdio[3] as Readable, "data").then(([line]) => JSON.parse(String(line)));
  const failed = running.exited.then((code) => {
    throw new Error(`serve ended with ${code}: ${running.seen()}`);
  });
  const { url } = await Promise.race([ready, failed]);
  failed.catch(() => undefined); // its end is no failure from here on
  return { ...running, url };
}

export function watch(child: ChildProcess, streams: readonly Readable[]): RunningCli {
  let seen = "";
  let from = 0;
  let look = () => {};
  for (const stream of streams) {
    stream.setEncoding("utf8").on("data", (part: string) => {
      seen += part;
      look();
    });
  }
  const exited = once(child, "close").then(([code]) => code as number | null);
  return {
    child,
    exited,
    seen: () => seen,
    type: (typed) => void child.stdin?.write(typed),
    until: (pattern, withinMs = DEADLINE_MS) =>
      new Promise((resolve, reject) => {
        const late = setTimeout(() => reject(new Error(`${pattern} did not come:\n${seen.slice(from)}`)), withinMs);
        look = () => {
          const found = pattern.exec(seen.slice(from));
          if (!found) return;
          from += found.index + found[0].length;
          clearTimeout(late);
          look = () => {};
          resolve();
        };
        look();
      }),
  };
}
