import type { Problem, Scope } from "@cognition/contract";
import { AppError, isAppError } from "@cognition/contract/app-error";
import { scopeHeader } from "@cognition/contract/scope-header";
import { type Backoff, retryAfter, type Wait } from "./backoff.ts";
import { headerText } from "./header-text.ts";

export type Fetch = (input: string, init: RequestInit) => Promise<Response>;

export interface TransportOptions {
  readonly baseUrl: string;
  readonly scope: Scope;
  /** Sent as `X-API-Key`. */
  readonly apiKey: string | undefined;
  /** Sent as `Authorization: Bearer`; a function is asked before every request, so that it may renew the token. */
  readonly token: string | (() => string | Promise<string>) | undefined;
  readonly headers: Readonly<Record<string, string>>;
  readonly fetch: Fetch;
  readonly wait: Wait;
  readonly backoff: Backoff;
  readonly retries: number;
}

/** A text is its UTF-8. */
export type Bytes = string | Uint8Array | ArrayBuffer | Blob;

export interface RequestOptions {
  readonly signal?: AbortSignal | undefined;
  readonly headers?: Readonly<Record<string, string>> | undefined;
}

export interface TransportRequest extends RequestOptions {
  readonly method: string;
  readonly path: string;
  readonly query?: Readonly<Record<string, unknown>> | undefined;
  readonly body?: Bytes | undefined;
  /** How long to wait for the answer to begin; left out, as long as the platform does. */
  readonly withinMs?: number | undefined;
}

/** Takes all of an answer. */
export type Read<T> = (response: Response) => Promise<T>;

export interface Transport {
  /** The answer, if it is a success. Throws AppError: the server's own, `server_unreachable` or `unexpected_answer`. */
  send(request: TransportRequest): Promise<Response>;
  /** The same, to the end of the answer. */
  receive<T>(request: TransportRequest, read: Read<T>): Promise<T>;
  /** The same, tried again where that may help: only for what can be repeated without doing anything twice. */
  receiveSafely<T>(request: TransportRequest, read: Read<T>): Promise<T>;
}

export function createTransport(options: TransportOptions): Transport {
  const base = options.baseUrl.replace(/\/+$/, "");

  async function ask({ method, path, query, body, headers, signal }: TransportRequest): Promise<Response> {
    const sent = { ...(await identity(options)), ...options.headers, ...headers };
    // A redirect would take the key to somebody else, and make a POST a GET.
    const init: RequestInit = { method, headers: sent, signal: signal ?? null, redirect: "manual" };
    if (body !== undefined) init.body = body as NonNullable<RequestInit["body"]>;
    let response: Response;
    try {
      response = await options.fetch(`${base}${path}${queryText(query)}`, init);
    } catch (cause) {
      signal?.throwIfAborted();
      checkRequest(base, `${base}${path}`, sent);
      throw unreachable(base, cause);
    }
    if (response.ok) return response;
    throw await toError(response);
  }

  async function send(request: TransportRequest): Promise<Response> {
    const { signal, withinMs } = request;
    if (withinMs === undefined) return ask(request);
    const late = new AbortController();
    const timer = setTimeout(() => late.abort(new Error(`no answer in ${withinMs} ms`)), withinMs);
    try {
      return await ask({ ...request, signal: signal ? AbortSignal.any([signal, late.signal]) : late.signal });
    } catch (error) {
      signal?.throwIfAborted();
      throw late.signal.aborted ? unreachable(base, late.signal.reason) : error;
    } finally {
      clearTimeout(timer);
    }
  }

  async function receive<T>(request: TransportRequest, read: Read<T>): Promise<T> {
    const response = await send(request);
    try {
      return await read(response);
    } catch (cause) {
      request.signal?.throwIfAborted();
      const { status } = response;
      if (cause instanceof SyntaxError) {
        const message = `The server answered ${status} with what is no JSON: ${cause.message}`;
        throw new AppError("unexpected_answer", message, { cause, details: { status } });
      }
      throw new AppError("server_unreachable", `The answer of ${base} broke off: ${messageOf(cause)}`, { cause });
    }
  }

  return {
    send,
    receive,
    async receiveSafely(request, read) {
      for (let attempt = 1; ; attempt++) {
        try {
          return await receive(request, read);
        } catch (error) {
          const asked = retryAfter(error);
          if (attempt > options.retries || !mayHelp(error) || (asked ?? 0) > LONGEST_PAUSE_MS) throw error;
          await options.wait(options.backoff.delay(attempt, undefined, asked), request.signal);
        }
      }
    },
  };
}

/** Who asks for more gets none: a caller would take the silence for a hang. The error says for how long, as `retry_after`. */
const LONGEST_PAUSE_MS = 60_000;

/** What no attempt could send is the caller's mistake, and no server that is away. */
function checkRequest(base: string, url: string, headers: Record<string, string>): void {
  for (const [name, value] of Object.entries(headers)) checkHeader(name, value);
  if (/^[^/]*:\/*[^/?#]*@/.test(base)) {
    const message = "baseUrl must not hold a user name or a password; apiKey, token or headers say who you are";
    throw new AppError("validation_failed", message);
  }
  try {
    new Request(url, { headers });
    if (!/^[a-z][a-z0-9+.-]*:/i.test(base) || /^https?:\/\//i.test(base)) return;
  } catch (cause) {
    throw new AppError("validation_failed", `The request can't be sent: ${messageOf(cause)}`, { cause });
  }
  throw new AppError("validation_failed", `baseUrl must begin with http:// or https://; it is "${base}"`);
}

/** In words of our own: what the platform says of it holds the value, which may be a key. */
function checkHeader(name: string, value: string): void {
  try {
    new Headers({ [name]: value });
  } catch {
    const message = `The request can't be sent: ${name} has a character that no header may have`;
    throw new AppError("validation_failed", message);
  }
}

/** Whether the same request may succeed later: nothing was wrong with it. */
export function mayHelp(error: unknown): boolean {
  if (!isAppError(error)) return false;
  if (error.code === "server_unreachable" || isAtWork(error)) return true;
  return [408, 425, 429, 502, 503, 504].includes(Number(error.details["status"]));
}

/** The first request of this key, whose connection was lost. Whoever asks anew, under another key, has it done twice. */
function isAtWork({ code, details }: AppError): boolean {
  return code === "concurrent_writer" && details["retry_after"] !== undefined;
}

async function identity({ scope, apiKey, token }: TransportOptions): Promise<Record<string, string>> {
  const headers: Record<string, string> = {};
  for (const [key, value] of Object.entries(scope)) {
    const name = scopeHeader(key);
    headers[name] = headerText(name, value);
  }
  if (apiKey !== undefined) headers["X-API-Key"] = apiKey;
  if (token !== undefined)
    headers["Authorization"] = `Bearer ${typeof token === "function" ? await renew(token) : token}`;
  return headers;
}

/** The network that a stream was lost with is often the one that the new token has to come through: that alone ends nothing. */
async function renew(token: () => string | Promise<string>): Promise<string> {
  try {
    return await token();
  } catch (cause) {
    // What `fetch` throws where it reaches nobody, in every browser and in Node.
    if (!(cause instanceof TypeError)) throw cause;
    throw new AppError("server_unreachable", `No token could be had: ${messageOf(cause)}`, { cause });
  }
}

function unreachable(base: string, cause: unknown): AppError {
  return new AppError("server_unreachable", `${base} can't be reached: ${messageOf(cause)}`, { cause });
}

/** A list's entries one by one, since any of them may hold a comma; `metadata: {a: "b"}` as `metadata.a=b`. */
function queryText(query: Readonly<Record<string, unknown>> = {}): string {
  const entries: [string, string][] = Object.entries(query).flatMap(([name, value]): [string, string][] => {
    if (value === undefined || value === null) return [];
    if (Array.isArray(value)) return value.map((entry) => [name, String(entry)]);
    if (typeof value !== "object") return [[name, String(value)]];
    return Object.entries(value).map(([key, inner]) => [`${name}.${key}`, String(inner)]);
  });
  return entries.length > 0 ? `?${new URLSearchParams(entries)}` : "";
}

async function toError(response: Response): Promise<AppError> {
  const { status, headers } = response;
  const location = headers.get("location");
  if (response.type === "opaqueredirect" || (location !== null && status < 400)) {
    const message = `The server redirects ${location === null ? "elsewhere" : `to ${location}`}: set baseUrl to where it is`;
    return new AppError("unexpected_answer", message, { details: { status } });
  }
  const text = await response.text().catch(() => "");
  const problem = readProblem(text);
  const about = {
    status,
    ...(headers.has("x-request-id") && { request_id: headers.get("x-request-id") }),
    ...(headers.has("retry-after") && { retry_after: secondsOf(headers) }),
  };
  if (!problem) {
    const message = `The server answered ${status} ${response.statusText}: ${text.slice(0, 200)}`;
    return new AppError("unexpected_answer", message, { details: about });
  }
  const details = { ...problem.details, ...(problem.errors && { errors: problem.errors }), ...about };
  const error = new AppError(problem.code, problem.detail, { details });
  // A newer server may have codes that this program does not know: no one could branch on them.
  return isAppError(error)
    ? error
    : new AppError("unexpected_answer", problem.detail, { details: { ...details, code: problem.code } });
}

/** `Retry-After` in seconds, also where it is a time: by the clock of whoever wrote it, where a page may read that. */
function secondsOf(headers: Headers): string {
  const asked = headers.get("retry-after") ?? "";
  const time = Date.parse(asked);
  if (/^\s*\d+\s*$/.test(asked) || Number.isNaN(time)) return asked;
  const now = Date.parse(headers.get("date") ?? "") || Date.now();
  return String(Math.max(0, Math.ceil((time - now) / 1000)));
}

function readProblem(text: string): Problem | undefined {
  try {
    const value: unknown = JSON.parse(text);
    const { code, detail } = (value ?? {}) as Partial<Problem>;
    return typeof code === "string" && typeof detail === "string" ? (value as Problem) : undefined;
  } catch {
    return undefined; // not ours: a proxy's page, say
  }
}

function messageOf(cause: unknown): string {
  if (!(cause instanceof Error)) return String(cause);
  // Node says only "fetch failed" and keeps the reason underneath.
  return cause.cause instanceof Error && cause.cause.message !== "" ? cause.cause.message : cause.message;
}
