import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import type { Memory, Question, Told } from "./tell-parent.ts";

/** A server in a process of its own, whose log goes nowhere. */
export interface ServerProcess {
  readonly url: string;
  memory(): Promise<Memory>;
  /** What it has used of a processor so far. */
  cpuMs(): Promise<number>;
  /** With SIGKILL; resolves when it is gone. */
  kill(): Promise<void>;
}

const FLAGS = ["--conditions=cognition-source", "--disable-warning=ExperimentalWarning", "--expose-gc"];

export async function startProcess(program: string, args: readonly string[]): Promise<ServerProcess> {
  const child = spawn(process.execPath, [...FLAGS, program, ...args], {
    stdio: ["ignore", "ignore", "pipe", "ipc"],
    env: { PATH: process.env["PATH"], HOME: process.env["HOME"] },
  });
  let errors = "";
  child.stderr?.setEncoding("utf8").on("data", (text: string) => {
    errors += text;
  });
  const exited = once(child, "exit");
  const ended = exited.then(() => {
    throw new Error(`${program} ended before it answered: ${errors}`);
  });
  ended.catch(() => undefined); // told to whoever waits
  const said = await Promise.race([told(child), ended]);
  if (!("url" in said)) throw new Error(`${program} said something else first`);
  function ask(question: Question): Promise<Told> {
    const answer = told(child);
    child.send(question);
    return Promise.race([answer, ended]);
  }

  return {
    url: said.url,
    memory: async () => {
      const line = await ask("memory");
      if (!("memory" in line)) throw new Error(`${program} said something else`);
      return line.memory;
    },
    cpuMs: async () => {
      const line = await ask("cpu_ms");
      if (!("cpu_ms" in line)) throw new Error(`${program} said something else`);
      return line.cpu_ms;
    },
    kill: async () => {
      child.kill("SIGKILL");
      await exited;
    },
  };
}

async function told(child: ChildProcess): Promise<Told> {
  const [line] = await once(child, "message");
  return line as Told;
}
