import { createInterface } from "node:readline";
import type { Context } from "../context.ts";

export interface Prompt {
  /** The next line; undefined at the end of input or after `close`. */
  ask(question: string): Promise<string | undefined>;
  /** Called at each Ctrl-C, in a terminal or as a signal. */
  onInterrupt(listener: () => void): void;
  readonly interactive: boolean;
  close(): void;
}

/** Lines of a person or of a pipe. Those that come before they are asked for wait their turn. */
export function openPrompt({ input, output, signals }: Context): Prompt {
  const interactive = input.isTTY === true;
  const lines = createInterface({ input, output, terminal: interactive, prompt: "" });
  const waiting: string[] = [];
  let listener = () => {};
  let wanted: ((line: string | undefined) => void) | undefined;
  let ended = false;
  const interrupt = () => listener();

  lines.on("line", (line) => {
    if (wanted) take(line);
    else waiting.push(line);
  });
  lines.on("close", () => {
    ended = true;
    take(undefined);
  });
  lines.on("SIGINT", interrupt);
  for (const signal of ["SIGINT", "SIGTERM"]) signals.on(signal, interrupt);

  function take(line: string | undefined): void {
    const give = wanted;
    wanted = undefined;
    give?.(line);
  }

  return {
    interactive,
    ask(question) {
      const early = waiting.shift();
      if (early !== undefined) return Promise.resolve(early);
      if (ended) return Promise.resolve(undefined);
      if (interactive) {
        lines.setPrompt(question);
        lines.prompt();
      }
      return new Promise((resolve) => {
        wanted = resolve;
      });
    },
    onInterrupt(next) {
      listener = next;
    },
    close() {
      for (const signal of ["SIGINT", "SIGTERM"]) signals.off(signal, interrupt);
      lines.close();
    },
  };
}
