import { AppError } from "@cognition/contract";

// A byte order mark is no part of a header's form: it stays.
const utf8 = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true });

/**
 * What a header says. HTTP hands its bytes over as if each were a character; they are read as UTF-8, as programs send them,
 * so that a name is the same whether it comes in a header, in a token or in a body. What is no UTF-8 could be anybody's.
 */
export function headerText(name: string, bytes: string): string {
  if (!/[\u0080-\u00ff]/.test(bytes)) return bytes;
  try {
    return utf8.decode(Buffer.from(bytes, "latin1"));
  } catch (cause) {
    const msg = "is not UTF-8, as what is not ASCII in a header must be";
    const details = { errors: [{ loc: ["header", name], msg }] };
    throw new AppError("validation_failed", `${name} ${msg}`, { details, cause });
  }
}
