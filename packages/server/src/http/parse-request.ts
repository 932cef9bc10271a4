import { AppError, isJsonObject, parseInput, queryInt, type Route } from "@cognition/contract";
import { z } from "zod";
import { headerText } from "./header-text.ts";
import { readBytes, readJson } from "./request-body.ts";

export interface ParsedRequest {
  readonly params: unknown;
  readonly query: unknown;
  readonly body: unknown;
  readonly last_event_id: number | undefined;
}

export interface ParseOptions {
  readonly params: Readonly<Record<string, string>>;
  readonly url: URL;
  readonly max_body_bytes: number;
}

const nothing = z.strictObject({});

/** By the route's schemas; what a route has no schema for must not be there. */
export async function parseRequest(route: Route, request: Request, options: ParseOptions): Promise<ParsedRequest> {
  requireReadable(options.url);
  const params = route.params && parseInput(route.params, options.params, "path");
  const query = parseInput(route.query ?? nothing, toObject(options.url.searchParams), "query");
  const last_event_id = route.media.includes("stream") ? lastEventId(request.headers) : undefined;
  const body = await parseBody(route, request, options.max_body_bytes);
  return { params, query: route.query && query, body, last_event_id };
}

/** What can't be decoded would be taken as it stands, and name what another address names too. */
function requireReadable({ pathname, search }: URL): void {
  try {
    decodeURIComponent(pathname + search);
  } catch (cause) {
    const message = "The address is not percent-encoded UTF-8 (a % of its own is %25); nothing was done";
    throw new AppError("malformed_request", message, { cause });
  }
}

const EventPosition = queryInt("Last-Event-ID", 0, Number.MAX_SAFE_INTEGER);

function lastEventId(headers: Headers): number | undefined {
  const sent = headers.get("Last-Event-ID");
  if (sent === null || sent === "") return undefined;
  return parseInput(EventPosition, sent, "header");
}

async function parseBody(route: Route, request: Request, maxBytes: number): Promise<unknown> {
  if (route.body === undefined) return undefined;
  if (route.body === "bytes") return readBytes(request, maxBytes);
  return parseInput(route.body, withKey(await readJson(request, maxBytes), route, request.headers), "body");
}

/** A name that is given more than once becomes a list, which the schema of a single value refuses. */
function toObject(search: URLSearchParams): Record<string, string | string[]> {
  const names = [...new Set(search.keys())];
  return Object.fromEntries(
    names.map((name) => {
      const values = search.getAll(name);
      return [name, values.length === 1 ? (values[0] as string) : values];
    }),
  );
}

/** The header and the field say the same thing; from here on there is only the field. */
function withKey(body: unknown, { method }: Route, headers: Headers): unknown {
  const sent = headers.get("Idempotency-Key");
  if (sent === null || method !== "POST" || !isJsonObject(body)) return body;
  const key = headerText("Idempotency-Key", sent);
  const given = body["idempotency_key"];
  if (given === undefined || given === key) return { ...body, idempotency_key: key };
  const msg = "differs from the field idempotency_key of the body";
  throw new AppError("validation_failed", `Idempotency-Key ${msg}; send one of them`, {
    details: { errors: [{ loc: ["header", "Idempotency-Key"], msg }] },
  });
}
