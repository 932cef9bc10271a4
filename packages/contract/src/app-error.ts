import { ERROR_CODES, type ErrorCode } from "./error-codes.ts";

export interface AppErrorOptions {
  /** For the caller, as JSON: never a secret, never another scope's data. */
  readonly details?: Readonly<Record<string, unknown>>;
  readonly cause?: unknown;
}

// A registered symbol rather than `instanceof`: an application may hold two copies of this package.
const BRAND = Symbol.for("cognition.AppError");
const codes: ReadonlySet<unknown> = new Set(ERROR_CODES.map((entry) => entry.code));

/** The one error of the system. The code is decided where the error happens; only HTTP turns it into a status. */
export class AppError extends Error {
  readonly code: ErrorCode;
  readonly details: Readonly<Record<string, unknown>>;
  readonly [BRAND] = true;

  constructor(code: ErrorCode, message: string, options: AppErrorOptions = {}) {
    super(message, "cause" in options ? { cause: options.cause } : undefined);
    this.name = "AppError";
    this.code = code;
    this.details = options.details ?? {};
  }
}

/** With codes given, tells whether it is one of them. */
export function isAppError(error: unknown, ...oneOf: readonly ErrorCode[]): error is AppError {
  if (!(error instanceof Error) || !(BRAND in error) || !("code" in error) || !codes.has(error.code)) return false;
  return oneOf.length === 0 || oneOf.includes(error.code as ErrorCode);
}
