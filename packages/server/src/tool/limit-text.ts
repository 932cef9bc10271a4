import { exceedsBytes } from "@cognition/contract";

/** The beginning of a text that is too long for a model, saying how much is missing: of `size` bytes, if not all is given. */
export function limitText(text: string, maxBytes: number, size?: number): string {
  if (!exceedsBytes(text, maxBytes)) return text;
  const bytes = new TextEncoder().encode(text);
  const kept = new TextDecoder().decode(bytes.subarray(0, maxBytes)).replace(/�+$/, "");
  return `${kept}\n… (cut off: ${maxBytes} of ${size ?? bytes.length} bytes are shown)`;
}
