import type { Message } from "@cognition/contract";

/** Marks that no one sees, or that turn the direction of text: with them a command reads otherwise than it runs. */
// biome-ignore lint/suspicious/noControlCharactersInRegex: those are what is made visible
const UNSEEN = /[\0-\x08\x0b-\x1f\x7f-\x9f\u00ad\u200b-\u200f\u2028-\u202e\u2060-\u206f\ufeff]/g;

export function visible(text: string): string {
  return text.replace(UNSEEN, (mark) => `\\u${mark.charCodeAt(0).toString(16).padStart(4, "0")}`);
}

/** A text as it is, anything else as JSON; nothing at all, which a graph may ask too, as null. */
export function shown(value: unknown = null): string {
  return visible(typeof value === "string" ? value : JSON.stringify(value, null, 2));
}

export function oneLine(text: string, length: number): string {
  const line = visible(text.replace(/\s+/g, " ").trim());
  // A surrogate whose other half is cut off would be no text: a server refuses it in a title.
  return line.length > length ? `${line.slice(0, length - 1).replace(/[\ud800-\udbff]$/, "")}…` : line;
}

export function textOf(content: Message["content"]): string {
  if (typeof content === "string") return content;
  return content
    .map(({ type, text }) => (typeof text === "string" ? text : /image|file|audio|video/.test(type) ? `[${type}]` : ""))
    .join("");
}

export function errorText(error: unknown): string {
  const { code, message } = error as { code?: string; message?: string };
  return `${code ? `${code}: ` : ""}${message ?? String(error)}`;
}
