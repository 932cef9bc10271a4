import { type ErrorCode, isAppError } from "@cognition/contract";
import { plainText } from "./print.ts";

/** What a server asks for as a header or a field, as whoever is at a command line gives it. */
const GIVEN_AS: Partial<Record<ErrorCode, string>> = {
  scope_required: "--scope <key>=<value>",
  unauthorized: "--key or --token",
  file_conflict: "`rewind` with --force",
};

/** A fault of the program itself keeps its stack: whoever reports it needs it. */
export function errorText(error: unknown): string {
  if (!isAppError(error)) return plainText(error instanceof Error ? (error.stack ?? error.message) : String(error));
  const given = GIVEN_AS[error.code];
  return `${plainText(error.message)}${given === undefined ? "" : ` (Here that is ${given}.)`}`;
}
