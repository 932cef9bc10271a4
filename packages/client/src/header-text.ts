import { AppError } from "@cognition/contract/app-error";

/** As HTTP takes it: the bytes of its UTF-8, each as a character. */
export function headerText(name: string, text: string): string {
  // HTTP drops it, and what arrives would name something else.
  if (/^[\t\n\r ]|[\t\n\r ]$/.test(text)) {
    throw new AppError("validation_failed", `The request can't be sent: ${name} begins or ends with white space`);
  }
  return Array.from(new TextEncoder().encode(text), (byte) => String.fromCharCode(byte)).join("");
}
