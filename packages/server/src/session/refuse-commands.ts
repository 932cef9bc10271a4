import { AppError, type SendMessage } from "@cognition/contract";

/** How LangGraph recognises a command, or a value that goes past a channel's reducer, in plain data. */
const MARKS = ["lg_name", "__overwrite__"];

/**
 * What a caller gives to a graph is its input. An object with one of these would be taken for an order to LangGraph instead:
 * to begin at another node, behind whatever the graph's author has put before it, or to replace what only grows.
 */
export function refuseCommands(input: SendMessage["input"]): void {
  const found =
    markIn(input) ??
    Object.entries(input ?? {})
      .map(markWithin)
      .find((path) => path !== undefined);
  if (!found) return;
  const loc = ["body", "input", ...found];
  const msg = "is LangGraph's own key, by which an input would command the graph";
  throw new AppError("validation_failed", `${loc.slice(1).join(".")} ${msg}; nothing was stored. Leave it out.`, {
    details: { errors: [{ loc, msg }] },
  });
}

function markWithin([channel, value]: [string, unknown]): string[] | undefined {
  const mark = markIn(value);
  return mark && [channel, ...mark];
}

function markIn(value: unknown): string[] | undefined {
  const mark = typeof value === "object" && value !== null ? MARKS.find((one) => one in value) : undefined;
  return mark === undefined ? undefined : [mark];
}
