import { z } from "zod";
import { type ErrorCode as Code, ERROR_CODES, type ErrorEntry } from "./error-codes.ts";

export { ERROR_CODES };

export type ErrorCode = Code;
export const ErrorCode = z.enum(ERROR_CODES.map((entry) => entry.code) as [ErrorCode, ...ErrorCode[]]);

const byCode = new Map<string, ErrorEntry>(ERROR_CODES.map((entry) => [entry.code, entry]));

export function errorEntry(code: ErrorCode): ErrorEntry {
  const entry = byCode.get(code);
  if (!entry) throw new TypeError(`not an error code: ${code}`);
  return entry;
}

/** What a run or a delivery keeps of an error. */
export const ErrorInfo = z.strictObject({ code: ErrorCode, message: z.string() });
export type ErrorInfo = z.infer<typeof ErrorInfo>;
