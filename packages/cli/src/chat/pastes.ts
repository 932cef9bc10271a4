import type { Context } from "../context.ts";

export interface Pastes {
  /** What a line that was entered completes: itself, or all that was pasted before it. Undefined inside of a paste. */
  join(line: string): string | undefined;
  /** Nothing of what was pasted before is part of the next line. */
  forget(): void;
  stop(): void;
}

const MARK_PASTES = "\x1b[?2004h";
const MARK_NO_MORE = "\x1b[?2004l";

/**
 * Asks the terminal to mark what is pasted, and keeps its lines together: a stack trace is one message, sent by Enter, and not
 * one for each of its lines. Node's readline tells of the marks as keys.
 */
export function watchPastes(input: Context["input"], output: Context["output"]): Pastes {
  let pasting = false;
  let pasted: string[] = [];
  const onKey = (_: unknown, key: { name?: string } | undefined) => {
    if (key?.name === "paste-start") pasting = true;
    else if (key?.name === "paste-end") pasting = false;
  };
  input.on("keypress", onKey);
  output.write(MARK_PASTES);
  return {
    join(line) {
      pasted.push(line);
      if (pasting) return undefined;
      const whole = pasted.join("\n");
      pasted = [];
      return whole;
    },
    forget() {
      pasted = [];
    },
    stop() {
      input.off("keypress", onKey);
      output.write(MARK_NO_MORE);
    },
  };
}
