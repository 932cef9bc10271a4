import { type ContentBlock, exceedsBytes } from "@cognition/contract";

/** The beginning of a text that is too long for a model, saying how much is missing: of `size` bytes, if not all is given. */
export function limitText(text: string, maxBytes: number, size?: number): string {
  if (!exceedsBytes(text, maxBytes)) return text;
  const bytes = new TextEncoder().encode(text);
  const kept = new TextDecoder().decode(bytes.subarray(0, maxBytes)).replace(/�+$/, "");
  return `${kept}\n… (cut off: ${maxBytes} of ${size ?? bytes.length} bytes are shown)`;
}

/** The same of every text that a tool has given. */
export function limitContent(content: string | ContentBlock[], maxBytes: number): string | ContentBlock[] {
  if (typeof content === "string") return limitText(content, maxBytes);
  return content.map((block) =>
    block.type === "text" ? { ...block, text: limitText(String(block["text"]), maxBytes) } : block,
  );
}
