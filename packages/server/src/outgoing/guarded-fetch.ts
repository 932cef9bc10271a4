import { lookup as systemLookup } from "node:dns/promises";
import { type IncomingMessage, request as requestHttp } from "node:http";
import { request as requestHttps } from "node:https";
import type { LookupFunction } from "node:net";
import { AppError, isAppError, MAX_URL_LENGTH } from "@cognition/contract";
import { messageOf } from "../file/error-text.ts";
import { type AddressGuard, createAddressGuard } from "./address-guard.ts";
import { ACCEPTED_ENCODINGS, type BodyLimit, readBody } from "./response-body.ts";

const MAX_REDIRECTS = 5;
const DEFAULT_TIMEOUT_MS = 20_000;
const DEFAULT_MAX_BYTES = 2 * 1024 * 1024;
const REDIRECTS: ReadonlySet<number> = new Set([301, 302, 303, 307, 308]);

interface ResolvedAddress {
  address: string;
  family: number;
}

export interface GuardedFetchOptions {
  /** See `createAddressGuard`. */
  allow?: readonly string[];
  lookup?: (host: string) => Promise<ResolvedAddress[]>;
  timeoutMs?: number;
  maxBytes?: number;
}

interface GuardedRequest {
  method?: "GET" | "POST";
  headers?: Readonly<Record<string, string>>;
  body?: string | Uint8Array;
  signal?: AbortSignal;
  timeoutMs?: number;
  maxBytes?: number;
  /** Keep the beginning of an answer that is too large, instead of refusing it. */
  truncate?: boolean;
  /** Only status and headers are wanted: the body is left unread, however long or slow it is. */
  discardBody?: boolean;
  /** An answer that redirects is given back as it is. */
  followRedirects?: boolean;
}

export interface GuardedResponse {
  /** Where the answer came from, after redirects. */
  url: string;
  status: number;
  headers: IncomingMessage["headers"];
  body: Uint8Array;
  truncated: boolean;
}

/**
 * Fetches over http or https from public addresses only. The name is resolved once, every address it has is checked, and
 * the connection is made to those very addresses: a name that answers differently the second time gains nothing. Each
 * redirect goes through all of it again. `address_refused` means nothing was sent. One deadline covers names, redirects
 * and body.
 */
export type GuardedFetch = (url: string, request?: GuardedRequest) => Promise<GuardedResponse>;

export function createGuardedFetch(options: GuardedFetchOptions = {}): GuardedFetch {
  const guard = createAddressGuard(options.allow);
  const lookup = options.lookup ?? ((host) => systemLookup(host, { all: true, verbatim: true }));

  return async (url, request = {}) => {
    const timeoutMs = request.timeoutMs ?? options.timeoutMs ?? DEFAULT_TIMEOUT_MS;
    const deadline = AbortSignal.timeout(timeoutMs);
    const signal = request.signal ? AbortSignal.any([request.signal, deadline]) : deadline;
    const limit = { maxBytes: request.maxBytes ?? options.maxBytes ?? DEFAULT_MAX_BYTES, truncate: !!request.truncate };
    try {
      return await follow({ url: parseUrl(url), request, limit, signal, guard, lookup });
    } catch (error) {
      request.signal?.throwIfAborted();
      if (deadline.aborted) throw new AppError("tool_failed", `${hostOf(url)} did not answer within ${timeoutMs} ms`);
      if (isAppError(error)) throw error;
      const reason = messageOf(error);
      throw new AppError("tool_failed", `${hostOf(url)} could not be reached: ${reason}`, { cause: error });
    }
  };
}

interface Hop {
  url: URL;
  request: GuardedRequest;
  limit: BodyLimit;
  signal: AbortSignal;
  guard: AddressGuard;
  lookup: (host: string) => Promise<ResolvedAddress[]>;
}

async function follow(first: Hop): Promise<GuardedResponse> {
  let hop = first;
  for (let redirects = 0; redirects <= MAX_REDIRECTS; redirects++) {
    hop.signal.throwIfAborted();
    const response = await send(hop, await resolve(hop));
    const status = response.statusCode ?? 0;
    const location = response.headers.location;
    if (!REDIRECTS.has(status) || location === undefined || hop.request.followRedirects === false) {
      return { url: hop.url.href, status, headers: response.headers, ...(await bodyOf(response, hop)) };
    }
    response.destroy();
    hop = redirected(hop, status, location);
  }
  throw new AppError("tool_failed", `${first.url.host} redirects more than ${MAX_REDIRECTS} times`);
}

async function bodyOf(response: IncomingMessage, { request, limit }: Hop): ReturnType<typeof readBody> {
  if (!request.discardBody) return readBody(response, limit);
  response.destroy();
  return { body: new Uint8Array(), truncated: true };
}

function redirected(hop: Hop, status: number, location: string): Hop {
  const url = parseUrl(location, hop.url);
  const { body, headers = {}, method, ...rest } = hop.request;
  const again = status === 307 || status === 308;
  // What was meant for one server (a token, a cookie) is not for the one it points to.
  const kept = url.origin === hop.url.origin ? headers : {};
  const request: GuardedRequest = again && method === "POST" ? { ...rest, method, ...(body && { body }) } : { ...rest };
  return { ...hop, url, request: { ...request, headers: kept } };
}

/** Throws `address_refused` for what must not be asked for, whoever asks. */
function parseUrl(text: string, base?: URL): URL {
  if (text.length > MAX_URL_LENGTH) {
    throw new AppError("address_refused", `the address is longer than the limit of ${MAX_URL_LENGTH} characters`);
  }
  const url = URL.parse(text, base?.href);
  if (!url) throw new AppError("address_refused", `"${text.slice(0, 200)}" is not a valid address`);
  if (url.protocol !== "http:" && url.protocol !== "https:") {
    throw new AppError(
      "address_refused",
      `${url.protocol.slice(0, -1)} addresses are not allowed, only http and https`,
    );
  }
  if (url.username !== "" || url.password !== "") {
    throw new AppError("address_refused", "an address must not contain a user name or a password");
  }
  return url;
}

async function resolve({ url, guard, lookup, signal }: Hop): Promise<ResolvedAddress[]> {
  const host = url.hostname.replace(/^\[(.*)\]$/, "$1");
  const port = Number(url.port) || (url.protocol === "https:" ? 443 : 80);
  const literal = /^[\d.]+$/.test(host) ? 4 : host.includes(":") ? 6 : undefined;
  const found = literal ? [{ address: host, family: literal }] : await unlessAborted(lookup(host), signal);
  if (found.length === 0) throw new AppError("tool_failed", `${host} has no address`);
  // One bad address is enough: a name with a public and a private one is a trap, or somebody's intranet.
  for (const { address } of found) {
    const refusal = guard.refusal(host, port, address);
    if (refusal) {
      const message = `${url.host} is refused: ${refusal}. Nothing was sent; an operator can allow it in the configuration.`;
      throw new AppError("address_refused", message, { details: { host: url.host } });
    }
  }
  return found;
}

/** A lookup can't be cancelled; its answer is then nobody's. */
async function unlessAborted<T>(work: Promise<T>, signal: AbortSignal): Promise<T> {
  const { promise, reject } = Promise.withResolvers<never>();
  const abort = () => reject(signal.reason);
  signal.addEventListener("abort", abort, { once: true });
  try {
    return await Promise.race([work, promise]);
  } finally {
    signal.removeEventListener("abort", abort);
  }
}

function send({ url, request, signal }: Hop, addresses: ResolvedAddress[]): Promise<IncomingMessage> {
  const { promise, resolve: answer, reject } = Promise.withResolvers<IncomingMessage>();
  const start = url.protocol === "https:" ? requestHttps : requestHttp;
  const outgoing = start(url, {
    method: request.method ?? "GET",
    headers: { "accept-encoding": ACCEPTED_ENCODINGS, "user-agent": "cognition", ...request.headers },
    // An agent's kept-alive connection could lead to an address that was never checked for this request.
    agent: false,
    lookup: pinned(addresses),
    signal,
  });
  outgoing.on("response", answer);
  outgoing.on("error", reject);
  // An answer of 101 is none, and is told by nothing else: the deadline comes too late for a request that is over.
  outgoing.on("close", () => reject(new Error("the connection was closed before an answer came")));
  outgoing.end(request.body);
  return promise;
}

function pinned(addresses: readonly ResolvedAddress[]): LookupFunction {
  return (_host, { all }, callback) => {
    const [first] = addresses;
    if (all) callback(null, [...addresses]);
    else callback(null, first?.address ?? "", first?.family ?? 0);
  };
}

function hostOf(url: string): string {
  return URL.parse(url)?.host ?? "the address";
}
