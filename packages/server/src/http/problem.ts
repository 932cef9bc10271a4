import { AppError, errorEntry, isAppError, type Problem, type ValidationIssue } from "@cognition/contract";

/** The docs page explains each code under its name. */
const TYPE = "/docs#";

/** The only place where an error becomes HTTP: RFC 9457 problem+json. What is not ours says nothing of its insides. */
export function toProblem(error: unknown, instance: string | undefined): { problem: Problem; headers: Headers } {
  const known = isAppError(error) ? error : internal(error);
  const { status, title } = errorEntry(known.code);
  const { errors, ...details } = known.details as { errors?: ValidationIssue[] } & Record<string, unknown>;
  const problem: Problem = {
    type: `${TYPE}${known.code}`,
    title,
    status,
    detail: known.message,
    code: known.code,
    ...(instance === undefined ? {} : { instance }),
    ...(errors ? { errors } : {}),
    ...(Object.keys(details).length > 0 ? { details } : {}),
  };
  return { problem, headers: headersFor(known) };
}

export function problemResponse(error: unknown, instance?: string): Response {
  const { problem, headers } = toProblem(error, instance);
  return new Response(JSON.stringify(problem), { status: problem.status, headers });
}

/** Whether somebody who runs the server should hear of it. */
export function isFault(error: unknown): boolean {
  return !isAppError(error) || errorEntry(error.code).status === 500;
}

function internal(cause: unknown): AppError {
  return new AppError("internal", "The server failed on this request. The request id finds the cause in its log.", {
    cause,
  });
}

/** What the HTTP of an error says beside its body; a guard or handler puts it into `details`. */
function headersFor({ code, details }: AppError): Headers {
  const headers = new Headers({ "Content-Type": "application/problem+json" });
  if (code === "unauthorized") headers.set("WWW-Authenticate", "Bearer");
  if (Array.isArray(details["allow"])) headers.set("Allow", details["allow"].join(", "));
  if (typeof details["retry_after_s"] === "number") headers.set("Retry-After", String(details["retry_after_s"]));
  return headers;
}
