import type { AppError, ErrorCode } from "@cognition/contract";

/** Something wrong with a file or a server that did not stop the rest: for health and doctor. */
export interface Problem {
  readonly code: ErrorCode;
  /** Names the place itself, as `file:line` where there is one. */
  readonly message: string;
  /** Relative to the workspace root; null if it is not about a file. */
  readonly file: string | null;
  readonly line: number | null;
}

/** What an error about a file becomes: `details.file` and `details.line` are set by whoever parsed it. */
export function toProblem(error: AppError, file: string | null = null): Problem {
  const { line } = error.details;
  return { code: error.code, message: error.message, file, line: typeof line === "number" ? line : null };
}
