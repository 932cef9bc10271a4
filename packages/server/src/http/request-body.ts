import { AppError, isAppError } from "@cognition/contract";
import { messageOf } from "../file/error-text.ts";
import { findDuplicates } from "./duplicate-fields.ts";
import { findInfinite } from "./infinite-number.ts";
import { findExcess, type JsonExcess } from "./measure-json.ts";

/** Reads no more than the limit, whatever Content-Length says or leaves out. */
export async function readBytes(request: Request, maxBytes: number): Promise<Uint8Array> {
  const encoding = request.headers.get("Content-Encoding") || "identity";
  if (encoding.toLowerCase() !== "identity") throw encoded("Content-Encoding", encoding);
  const coding = request.headers.get("Transfer-Encoding") || "chunked";
  if (coding.toLowerCase() !== "chunked") throw encoded("Transfer-Encoding", coding);
  const announced = request.headers.get("Content-Length");
  if (Number(announced ?? 0) > maxBytes) throw tooLarge(maxBytes);
  try {
    // What has a length ends there. Taken as a whole it needs no web stream, which would cost more than parsing it does.
    const bytes =
      announced === null ? await readChunks(request, maxBytes) : new Uint8Array(await request.arrayBuffer());
    if (bytes.byteLength > maxBytes) throw tooLarge(maxBytes);
    return bytes;
  } catch (cause) {
    if (isAppError(cause)) throw cause;
    throw new AppError("malformed_request", "The body broke off before its end; nothing was done", { cause });
  }
}

async function readChunks({ body }: Request, maxBytes: number): Promise<Uint8Array> {
  const chunks: Uint8Array[] = [];
  let size = 0;
  // Leaving the loop cancels the stream: the rest of a body that is too large is never taken in.
  for await (const chunk of body ?? []) {
    size += chunk.byteLength;
    if (size > maxBytes) throw tooLarge(maxBytes);
    chunks.push(chunk);
  }
  return chunks.length === 1 ? (chunks[0] as Uint8Array) : Buffer.concat(chunks);
}

/** JSON whatever the Content-Type says. No body at all stands for an object without fields. */
export async function readJson(request: Request, maxBytes: number): Promise<unknown> {
  const bytes = await readBytes(request, maxBytes);
  const excess = findExcess(bytes, maxBytes);
  if (excess) throw tooMuch(excess);
  const text = decode(bytes);
  if (text.trim() === "") return {};
  const value = parse(text);
  const infinite = findInfinite(value);
  const errors = [
    ...findDuplicates(text).map((path) => ({ loc: ["body", ...path], msg: "is given more than once" })),
    ...(infinite ? [{ loc: ["body", ...infinite], msg: "is a number too large to be kept; send it as a text" }] : []),
  ];
  if (errors.length === 0) return value;
  const summary = errors.map(({ loc, msg }) => `${loc.join(".")} ${msg}`).join("; ");
  throw new AppError("validation_failed", summary, { details: { errors } });
}

function decode(bytes: Uint8Array): string {
  try {
    return new TextDecoder("utf-8", { fatal: true }).decode(bytes);
  } catch (cause) {
    throw new AppError("malformed_request", "The body is not UTF-8; nothing was done", { cause });
  }
}

function parse(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch (cause) {
    const reason = messageOf(cause);
    throw new AppError("malformed_request", `The body is not JSON (${reason.slice(0, 200)}); nothing was done`, {
      cause,
    });
  }
}

/** Taken as it is, a file would be stored as what its sender did not mean. */
function encoded(header: string, encoding: string): AppError {
  const message = `The body is sent as ${encoding.slice(0, 100)} (${header}), which this server does not undo; nothing was done`;
  return new AppError("malformed_request", message);
}

function tooLarge(maxBytes: number): AppError {
  return new AppError("content_too_large", `The body is larger than the limit of ${maxBytes} bytes; nothing was done`, {
    details: { limit: "body", max: maxBytes },
  });
}

function tooMuch(excess: JsonExcess): AppError {
  const is = excess.limit === "body_depth" ? "is nested deeper than" : "holds more values than";
  const of = excess.limit === "body_depth" ? "levels" : "that server.body_limit makes room for";
  return new AppError("content_too_large", `The body ${is} the limit of ${excess.max} ${of}; nothing was done`, {
    details: { ...excess },
  });
}
