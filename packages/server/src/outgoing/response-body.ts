import type { IncomingMessage } from "node:http";
import { type Duplex, pipeline, type Readable } from "node:stream";
import { createBrotliDecompress, createGunzip, createInflate } from "node:zlib";
import { AppError } from "@cognition/contract";

export const ACCEPTED_ENCODINGS = "gzip, deflate, br";

const DECODERS: Record<string, () => Duplex> = {
  gzip: createGunzip,
  "x-gzip": createGunzip,
  deflate: createInflate,
  br: createBrotliDecompress,
};

export interface BodyLimit {
  maxBytes: number;
  /** Keep what fits instead of refusing the rest. */
  truncate: boolean;
}

/**
 * The decoded body, up to a limit that counts what comes out of the decoder, not what came over the wire: a kilobyte of
 * gzip can stand for a megabyte. The connection is dropped as soon as the limit is passed.
 */
export async function readBody(
  response: IncomingMessage,
  { maxBytes, truncate }: BodyLimit,
): Promise<{ body: Uint8Array; truncated: boolean }> {
  const chunks: Buffer[] = [];
  let size = 0;
  try {
    for await (const chunk of decoded(response) as AsyncIterable<Buffer>) {
      size += chunk.length;
      chunks.push(chunk);
      if (size > maxBytes) break;
    }
  } finally {
    response.destroy();
  }
  if (size > maxBytes && !truncate) {
    throw new AppError("content_too_large", `the answer is larger than the limit of ${maxBytes} bytes`);
  }
  return { body: Buffer.concat(chunks).subarray(0, maxBytes), truncated: size > maxBytes };
}

function decoded(response: IncomingMessage): Readable {
  const encoding = (response.headers["content-encoding"] ?? "identity").trim().toLowerCase();
  if (encoding === "identity" || encoding === "") return response;
  const decoder = DECODERS[encoding];
  // Several encodings on top of each other serve only to multiply.
  if (!decoder) throw new AppError("tool_failed", `the answer is encoded as "${encoding}", which was not asked for`);
  // The callback is the one place where an error of either stream is not thrown at nobody; the iteration reports it.
  return pipeline(response, decoder(), () => undefined);
}
