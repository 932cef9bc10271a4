import { createInterface } from "node:readline";
import type { Context } from "../context.ts";
import { watchPastes } from "./pastes.ts";

export interface Prompt {
  /** The next line, or pasted lines in one; undefined at the end of input, after `cancel` or `close`. */
  ask(question: string): Promise<string | undefined>;
  /** The same, but what a person typed before the question was there is no answer to it; a script's next line is. */
  askNow(question: string): Promise<string | undefined>;
  /** Nobody waits for what was asked any more. */
  cancel(): void;
  /** Called at each Ctrl-C, in a terminal or as a signal. */
  onInterrupt(listener: () => void): void;
  readonly interactive: boolean;
  close(): void;
}

/** Lines of a person or of a pipe. Those that come before they are asked for wait their turn. */
export function openPrompt({ input, output, signals, env }: Context): Prompt {
  const interactive = input.isTTY === true;
  const lines = createInterface({ input, output, terminal: interactive, prompt: "" });
  const pastes = interactive && output.isTTY && env["TERM"] !== "dumb" ? watchPastes(input, output) : undefined;
  const waiting: string[] = [];
  let listener = () => {};
  let wanted: ((line: string | undefined) => void) | undefined;
  let ended = false;
  let closed = false;
  const interrupt = () => listener();

  lines.on("line", (line) => {
    const text = pastes ? pastes.join(line) : line;
    if (text === undefined) return;
    if (wanted) take(text);
    else waiting.push(text);
  });
  lines.on("close", () => {
    ended = true;
    if (interactive && wanted) output.write("\n"); // what follows begins on a line of its own
    take(undefined);
  });
  // A terminal that was closed can't be set back to how it was; that it is gone is told by the end of its input.
  lines.on("error", (error: NodeJS.ErrnoException) => {
    if (error.code !== "EIO" || !interactive) throw error;
  });
  lines.on("SIGINT", () => {
    dropLine();
    interrupt();
    if (wanted) lines.prompt();
  });
  signals.on("SIGINT", interrupt);

  /** As in a shell: what was typed so far is no part of what is sent next. */
  function dropLine(): void {
    pastes?.forget();
    if (lines.line === "") return;
    lines.write(null, { ctrl: true, name: "e" });
    lines.write(null, { ctrl: true, name: "u" });
  }

  function take(line: string | undefined): void {
    const give = wanted;
    wanted = undefined;
    give?.(line);
  }

  function next(question: string): Promise<string | undefined> {
    if (ended) return Promise.resolve(undefined);
    if (interactive) {
      lines.setPrompt(question);
      lines.prompt();
    }
    return new Promise((resolve) => {
      wanted = resolve;
    });
  }

  function ask(question: string): Promise<string | undefined> {
    const early = waiting.shift();
    return early === undefined ? next(question) : Promise.resolve(early);
  }

  return {
    interactive,
    ask,
    askNow: interactive ? next : ask,
    cancel: () => take(undefined),
    onInterrupt(heard) {
      listener = heard;
    },
    close() {
      // Only once: what it writes fails where the terminal was closed, for which it is closed again.
      if (closed) return;
      closed = true;
      signals.off("SIGINT", interrupt);
      pastes?.stop();
      lines.close();
    },
  };
}
