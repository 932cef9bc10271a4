import { headerText } from "./header-text.ts";

/** What names a request for good, as its header says it: the caller's own key, or a new one. */
export function keyText(own: string | undefined): string {
  return own === undefined ? newKey() : headerText("Idempotency-Key", own);
}

/** 128 random bits. Not `crypto.randomUUID`, which pages that are not on https lack. */
function newKey(): string {
  const bytes = crypto.getRandomValues(new Uint8Array(16));
  return Array.from(bytes, (byte) => byte.toString(16).padStart(2, "0")).join("");
}
