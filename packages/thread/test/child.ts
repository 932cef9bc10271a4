import { spawn } from "node:child_process";
import { once } from "node:events";
import { createInterface } from "node:readline";
import { fileURLToPath } from "node:url";

export interface Child {
  /** What the child said next, as JSON; rejects with its error output if it ended instead. */
  next(): Promise<unknown>;
  /** Lets a child that waits go on. */
  go(): void;
  kill(): Promise<void>;
}

/** Runs `children/<name>.ts` in a process of its own. It gets `input` as JSON, and answers in lines of JSON. */
export function startChild(name: string, input: unknown): Child {
  const file = fileURLToPath(new URL(`./children/${name}.ts`, import.meta.url));
  const args = ["--conditions=cognition-source", "--disable-warning=ExperimentalWarning", file, JSON.stringify(input)];
  const child = spawn(process.execPath, args, { stdio: "pipe" });
  const exited = once(child, "exit");
  let errors = "";
  child.stderr.setEncoding("utf8").on("data", (text: string) => {
    errors += text;
  });
  const lines = createInterface({ input: child.stdout })[Symbol.asyncIterator]();
  return {
    next: async () => {
      const line = await lines.next();
      if (line.done) throw new Error(`${name} ended without an answer: ${errors}`);
      return JSON.parse(line.value);
    },
    go: () => void child.stdin.write("go\n"),
    kill: async () => {
      child.kill("SIGKILL");
      await exited;
    },
  };
}
