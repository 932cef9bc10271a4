import type { ErrorCode } from "@cognition/contract";

/** An error that is to be an AppError in the main thread. The thread with the files loads no more than it needs. */
export class WorkspaceProblem extends Error {
  readonly code: ErrorCode;
  readonly details: Record<string, unknown>;

  constructor(code: ErrorCode, message: string, details: Record<string, unknown>) {
    super(message);
    this.code = code;
    this.details = details;
  }
}
