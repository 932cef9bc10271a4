import { homedir } from "node:os";
import type { Context } from "./context.ts";
import { EXIT } from "./exit-code.ts";

type Process = Pick<NodeJS.Process, "env" | "cwd" | "stdin" | "stdout" | "stderr" | "on" | "off" | "exit">;

/** Runs a command on what this process has of the world; gives the exit code. */
export async function openProcess(
  process: Process,
  run: (context: Context) => Promise<number>,
  findHome: () => string = homedir,
): Promise<number> {
  const { env, stdin: input, stdout: output, stderr: errors } = process;
  let unwritten: Error | undefined;
  for (const stream of [output, errors]) {
    // Without a listener a closed pipe would end the process on the spot, a server with runs under way too. Nobody who reads
    // any more is no fault, as in `… | head` or when the terminal was closed; a full disk is one.
    stream.on("error", (error: NodeJS.ErrnoException) => {
      const isUnread = error.code === "EPIPE" || (error.code === "EIO" && stream.isTTY);
      if (!isUnread) unwritten ??= error;
    });
  }
  const cwd = folderOf(process);
  if (cwd === undefined) {
    errors.write("cognition: the folder that it was started in is gone; change to another one.\n");
    return EXIT.usage;
  }
  const exit = (code: number) => process.exit(code);
  const code = await run({ env, cwd, home: homeOf(findHome), input, output, errors, signals: process, exit });
  await new Promise((resolve) => output.write("", resolve)); // that a write has failed is told some time after it
  if (!unwritten) return code;
  errors.write(`cognition: what it had to say could not be written: ${unwritten.message}\n`);
  return code === EXIT.ok ? EXIT.failed : code;
}

function folderOf(process: Process): string | undefined {
  try {
    return process.cwd();
  } catch {
    return undefined; // the system says no more than that there is none
  }
}

/** A container's user often has no entry in /etc/passwd, and then no home where HOME does not name it. */
function homeOf(findHome: () => string): string | undefined {
  try {
    return findHome();
  } catch {
    return undefined;
  }
}
