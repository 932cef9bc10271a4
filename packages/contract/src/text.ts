import { z } from "zod";

// PostgreSQL refuses U+0000 in text, and an unpaired surrogate has no UTF-8 form: either would come back changed or fail
// late, on one engine only. Both are refused at the border, except in content, which is stored as JSON.
function isStorableText(value: string): boolean {
  return !value.includes("\u0000") && value.isWellFormed();
}

/** Short text that a column or a header may hold. `name` and the limit are in the message. */
export function text(name: string, max: number, min = 0) {
  return z
    .string({ error: (issue) => (issue.input === undefined ? `${name} is required` : `${name} must be a string`) })
    .min(min, { error: `${name} must not be empty` })
    .max(max, { error: `${name} is longer than the limit of ${max} characters` })
    .refine(isStorableText, { error: `${name} must not contain U+0000 or unpaired surrogates` });
}

/** Counted by hand, so that this package needs neither Node's nor a browser's globals. */
export function utf8Length(value: string): number {
  let bytes = 0;
  for (const char of value) {
    const point = char.codePointAt(0) ?? 0;
    bytes += point < 0x80 ? 1 : point < 0x800 ? 2 : point < 0x10000 ? 3 : 4;
  }
  return bytes;
}

export function exceedsBytes(value: string, max: number): boolean {
  if (value.length > max) return true;
  // No UTF-16 unit takes more than three bytes of UTF-8, so most text is settled without encoding it.
  return value.length * 3 > max && utf8Length(value) > max;
}
