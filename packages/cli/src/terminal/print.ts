import { stripVTControlCharacters } from "node:util";
import type { Context } from "../context.ts";

export function printJson(context: Context, value: unknown): void {
  context.output.write(`${JSON.stringify(value, null, 2)}\n`);
}

export function counted(count: number, noun: string): string {
  return `${count} ${noun}${count === 1 ? "" : "s"}`;
}

/**
 * What others wrote, made safe for a terminal: a title or a file's content must not move the cursor or set the window's title,
 * nor a command read otherwise than it runs, which is what marks that turn the direction of text are good for.
 */
export function plainText(text: string): string {
  // biome-ignore lint/suspicious/noControlCharactersInRegex: those are what is taken out
  return stripVTControlCharacters(text).replace(/[\0-\x08\x0b-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069]/g, "");
}

/** As the chat page has them: marks that no one sees, or that turn the direction of text. */
// biome-ignore lint/suspicious/noControlCharactersInRegex: those are what is made visible
const UNSEEN = /[\0-\x08\x0b-\x1f\x7f-\x9f\u00ad\u200b-\u200f\u2028-\u202e\u2060-\u206f\ufeff]/g;

/** The same for what somebody is to allow: it runs with such a mark, so that is spelled out rather than taken out. */
export function spelledOut(text: string): string {
  return text.replace(UNSEEN, (mark) => `\\u${mark.charCodeAt(0).toString(16).padStart(4, "0")}`);
}

export function oneLine(text: string, length: number): string {
  const line = plainText(text).replace(/\s+/g, " ").trim();
  // A surrogate whose other half is cut off would be no text: a server refuses it in a title.
  return line.length > length ? `${line.slice(0, length - 1).replace(/[\ud800-\udbff]$/, "")}…` : line;
}
