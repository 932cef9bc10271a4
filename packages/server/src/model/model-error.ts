import { type AppError, type ErrorCode, isAppError } from "@cognition/contract";
import type { CallOutcome } from "../breaker/circuit-breaker.ts";
import { readRetryAfter } from "./retry-policy.ts";

/** What a failed call means for what comes next. */
export interface ModelFailure {
  readonly code: ErrorCode;
  /** In one sentence, without keys. */
  readonly message: string;
  readonly status: number | undefined;
  /** The same request may succeed on another attempt. */
  readonly retryable: boolean;
  /** Another provider may succeed where this one did not. */
  readonly elsewhere: boolean;
  readonly outcome: CallOutcome;
  readonly retryAfterMs: number | undefined;
}

interface Rule {
  readonly code: ErrorCode;
  readonly retryable: boolean;
  readonly elsewhere: boolean;
  readonly outcome: CallOutcome;
}

const AGAIN: Rule = { code: "model_failed", retryable: true, elsewhere: true, outcome: "failure" };
const REFUSED: Rule = { code: "model_failed", retryable: false, elsewhere: false, outcome: "ignored" };

// A wrong key or model is a matter of configuration: opening the breaker would hide the message that says so.
const BY_STATUS: Readonly<Record<number, Rule>> = {
  401: { code: "model_auth_failed", retryable: false, elsewhere: true, outcome: "ignored" },
  402: { code: "model_auth_failed", retryable: false, elsewhere: true, outcome: "ignored" },
  403: { code: "model_auth_failed", retryable: false, elsewhere: true, outcome: "ignored" },
  404: { code: "unknown_model", retryable: false, elsewhere: false, outcome: "ignored" },
  408: AGAIN,
  409: AGAIN,
  413: { code: "context_overflow", retryable: false, elsewhere: false, outcome: "ignored" },
  429: { code: "model_rate_limited", retryable: true, elsewhere: true, outcome: "failure" },
};

const OVERFLOW =
  /context[ _]length|context window|(prompt|input) is too long|maximum context|too many (input )?tokens|exceeds? the (model'?s )?(maximum|context|available context)/i;
const NO_QUOTA = /insufficient_quota|exceeded your current quota|credit balance is too low|billing/i;
const MAX_MESSAGE_LENGTH = 500;

export function readFailure(error: unknown, now: number, redact: (text: string) => string): ModelFailure {
  const known = findAppError(error);
  if (known) return fromAppError(known);
  const { status, headers, text } = describe(error);
  const rule = ruleOf(error, status, text);
  return {
    ...rule,
    status,
    // A provider quotes the key it refuses, so its words on that are not passed on.
    message: rule.code === "model_auth_failed" ? "" : shorten(redact(text)),
    retryAfterMs: readRetryAfter(headers, now),
  };
}

function ruleOf(error: unknown, status: number | undefined, text: string): Rule {
  if (isOverflow(error, status, text)) return { ...REFUSED, code: "context_overflow" };
  // A used-up quota answers 429 too, but no pause brings it back.
  if (status === 429 && NO_QUOTA.test(text)) return { ...AGAIN, code: "model_rate_limited", retryable: false };
  if (isLocal(error, status)) return REFUSED;
  if (status === undefined || status >= 500) return isTimeout(error) ? { ...AGAIN, code: "model_timeout" } : AGAIN;
  return BY_STATUS[status] ?? REFUSED;
}

function fromAppError(error: AppError): ModelFailure {
  const { details, code, message } = error;
  const retryAfter = details["retry_after_ms"];
  const base = {
    code,
    message,
    status: typeof details["status"] === "number" ? details["status"] : undefined,
    retryAfterMs: typeof retryAfter === "number" ? retryAfter : undefined,
  };
  // Refused by our own breaker: no call took place, so there is nothing to count and no use in asking again at once.
  if (code === "circuit_open") return { ...base, retryable: false, elsewhere: true, outcome: "ignored" };
  if (code !== "model_timeout" && code !== "model_failed") {
    return { ...base, retryable: false, elsewhere: false, outcome: "ignored" };
  }
  return { ...base, retryable: details["retryable"] !== false, elsewhere: true, outcome: "failure" };
}

// SDKs wrap what our fetch throws, so the cause may be several errors down.
function findAppError(error: unknown): AppError | undefined {
  for (let at = error, depth = 0; at instanceof Error && depth < 8; at = at.cause, depth++) {
    if (isAppError(at)) return at;
  }
  return undefined;
}

function describe(error: unknown): { status: number | undefined; headers: Headers | undefined; text: string } {
  if (!(error instanceof Error)) return { status: undefined, headers: undefined, text: String(error) };
  const members = error as Error & { headers?: unknown; cause?: unknown };
  const { message: deeper } = members.cause instanceof Error ? members.cause : error;
  const cause = deeper === error.message ? "" : `: ${deeper}`;
  return {
    status: statusOf(error) ?? statusOf(members.cause),
    headers: members.headers instanceof Headers ? members.headers : undefined,
    text: `${inWords(error.message.split("\n\nTroubleshooting URL")[0] ?? "")}${cause}`.trim() || error.name,
  };
}

/** What is told in the middle of Anthropic's stream is the message of its error as it came. */
function inWords(message: string): string {
  if (!message.startsWith("{")) return message;
  try {
    const { error, message: outer } = JSON.parse(message) as {
      error?: { message?: unknown } | null;
      message?: unknown;
    };
    const said = error?.message ?? outer;
    return typeof said === "string" ? said : message;
  } catch {
    return message; // it only begins like one
  }
}

/** By the names that OpenAI's, Anthropic's and Google's packages have for it, Ollama's, and AWS's. */
function statusOf(error: unknown): number | undefined {
  const { status, status_code, $metadata } = (error ?? {}) as Record<string, unknown>;
  const { httpStatusCode } = ($metadata ?? {}) as Record<string, unknown>;
  return [status, status_code, httpStatusCode].find((one) => typeof one === "number");
}

function isOverflow(error: unknown, status: number | undefined, text: string): boolean {
  if (error instanceof Error && error.name === "ContextOverflowError") return true;
  // Without a status: told in the stream of an answer that had begun.
  return (status === undefined || status === 400 || status === 413 || status === 422) && OVERFLOW.test(text);
}

// What a package throws while it builds the request (a parameter that the model does not take): nothing was sent, and the
// next attempt would end alike. SDKs and the network throw subclasses, or set a status or a cause.
function isLocal(error: unknown, status: number | undefined): boolean {
  if (!(error instanceof Error) || status !== undefined || error.cause !== undefined) return false;
  return error.constructor === Error && error.name === "Error";
}

function isTimeout(error: unknown): boolean {
  return error instanceof Error && /timeout/i.test(error.name);
}

function shorten(text: string): string {
  return text.length > MAX_MESSAGE_LENGTH ? `${text.slice(0, MAX_MESSAGE_LENGTH).toWellFormed()}…` : text;
}
