import { createHash } from "node:crypto";
import { AppError, type ArtifactEncoding } from "@cognition/contract";

/** Content as a version's row holds it: bytes, and whether they are text. */
export interface StoredContent {
  content: Uint8Array;
  encoding: ArtifactEncoding;
  size: number;
  hash: string;
}

export function storeContent(given: string | Uint8Array, maxBytes: number): StoredContent {
  const content = typeof given === "string" ? encodeText(given) : bytesOf(given);
  if (content.length > maxBytes) {
    throw new AppError(
      "content_too_large",
      `The content has ${content.length} bytes, the limit is ${maxBytes}. Nothing was stored.`,
      { details: { limit: "artifact", max: maxBytes, size: content.length } },
    );
  }
  return {
    content,
    encoding: typeof given === "string" ? "text" : "base64",
    size: content.length,
    hash: createHash("sha256").update(content).digest("hex"),
  };
}

/** As it went in. */
export function readContent({ content, encoding }: { content: Uint8Array; encoding: string }): string | Uint8Array {
  return encoding === "text" ? asBuffer(content).toString("utf8") : bytesOf(content);
}

/** As the resource shows it. */
export function showContent({ content, encoding }: { content: Uint8Array; encoding: string }): string {
  return asBuffer(content).toString(encoding === "text" ? "utf8" : "base64");
}

export function defaultContentType(encoding: ArtifactEncoding): string {
  return encoding === "text" ? "text/plain; charset=utf-8" : "application/octet-stream";
}

function encodeText(text: string): Uint8Array {
  if (text.isWellFormed()) return Buffer.from(text, "utf8");
  const message =
    "The content has half of a surrogate pair, which UTF-8 can't hold. Nothing was stored; send bytes instead.";
  throw new AppError("unserializable_value", message, { details: { path: "content" } });
}

/** One driver gives a Buffer, the other a plain array of bytes; callers get the plain one from both. */
function bytesOf(bytes: Uint8Array): Uint8Array {
  return new Uint8Array(bytes.buffer, bytes.byteOffset, bytes.byteLength);
}

function asBuffer(bytes: Uint8Array): Buffer {
  return Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
}
