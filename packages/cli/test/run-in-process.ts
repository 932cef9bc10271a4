import { EventEmitter } from "node:events";
import { PassThrough, Writable } from "node:stream";
import type { Context } from "../src/context.ts";
import { runCommand } from "../src/run-command.ts";
import type { CliOptions, CliResult } from "./cli-process.ts";

/** The command in this process: without a second of start for each of many small cases. */
export async function runInProcess(
  args: readonly string[],
  { cwd, env = {}, input = "", signals = new EventEmitter() }: CliOptions & { signals?: EventEmitter },
): Promise<CliResult> {
  const written = { output: "", errors: "" };
  const into = (name: "output" | "errors") =>
    new Writable({
      write(part, _, done) {
        written[name] += part;
        done();
      },
    });
  const context = {
    env,
    cwd,
    home: `${cwd}/no-home`,
    input: new PassThrough().end(input),
    output: into("output"),
    errors: into("errors"),
    signals,
    exit: (code: number) => void signals.emit("exit", code),
  };
  const code = await runCommand(args, context as unknown as Context);
  return { code, ...written };
}
