import { stripVTControlCharacters } from "node:util";
import type { Context } from "../context.ts";

export function printJson(context: Context, value: unknown): void {
  context.output.write(`${JSON.stringify(value, null, 2)}\n`);
}

export function counted(count: number, noun: string): string {
  return `${count} ${noun}${count === 1 ? "" : "s"}`;
}

/** What others wrote, made safe for a terminal: a title or a file's content must not move the cursor or set the window's title. */
export function plainText(text: string): string {
  // biome-ignore lint/suspicious/noControlCharactersInRegex: those are what is taken out
  return stripVTControlCharacters(text).replace(/[\u0000-\u0008\u000b-\u001f\u007f-\u009f]/g, "");
}

export function oneLine(text: string, length: number): string {
  const line = plainText(text).replace(/\s+/g, " ").trim();
  // A surrogate whose other half is cut off would be no text: a server refuses it in a title.
  return line.length > length ? `${line.slice(0, length - 1).replace(/[\ud800-\udbff]$/, "")}…` : line;
}
