import { AppError, DEFAULT_MAX_BODY_BYTES, ROUTES, type Route, type RouteName } from "@cognition/contract";
import type { HttpBindings } from "@hono/node-server";
import { type Context, Hono } from "hono";
import { answerWithin } from "../answer-within.ts";
import { asksForHtml } from "./accept.ts";
import type { ClientAddress } from "./client-address.ts";
import { deliver } from "./deliver.ts";
import { streamOf } from "./event-stream.ts";
import {
  type AdmittedRequest,
  type ArrivedRequest,
  type Authenticate,
  authenticateNobody,
  type Caller,
  type Guard,
  PUBLIC_ROUTES,
  SCOPELESS_ROUTES,
} from "./guard.ts";
import type { Call, Handlers } from "./handler.ts";
import { type Idempotency, requestHash } from "./idempotency.ts";
import type { AnswerPage } from "./page.ts";
import { parseRequest } from "./parse-request.ts";
import { isFault, problemResponse } from "./problem.ts";
import { type JsonReply, jsonResponse, toJsonReply } from "./reply.ts";
import { requestId } from "./request-id.ts";
import { honoPath, methodsAt } from "./route-path.ts";
import { type Scoping, type SentHeaders, scopeOf } from "./scope.ts";
import { watchStream } from "./watch-stream.ts";

export interface AppOptions {
  /** A route whose handler is missing answers 501. */
  readonly handlers: Partial<Handlers>;
  readonly idempotency: Idempotency;
  readonly authenticate?: Authenticate;
  /** How often whoever follows a stream is asked for again. */
  readonly recheck_ms?: number;
  readonly scoping?: Scoping;
  readonly guards?: readonly Guard[];
  /** What browsers are shown beside the API. */
  readonly page?: AnswerPage;
  /** Without it, whoever holds the other end of the socket. */
  readonly clientAddress?: ClientAddress;
  readonly max_body_bytes?: number;
  /** A reader that takes nothing of an answer for so long is cut off. */
  readonly stall_ms?: number;
  /** Aborts when the node shuts down: streams end, with a position to go on from. */
  readonly shutdown?: AbortSignal;
  /** Holds every JSON reply to its schema: for tests. */
  readonly check_replies?: boolean;
  /** Of faults, not of refusals. */
  readonly onError: (error: unknown, request: ArrivedRequest | undefined) => void;
}

/** Bindings are there when a socket is; `app.request()` has none. */
export type AppEnv = { Bindings: Partial<HttpBindings> };
type AppContext = Context<AppEnv>;

/** These keep their own account of idempotency keys: what they give is a run, and a stream that can be joined again. */
const IDEMPOTENT_THEMSELVES: ReadonlySet<RouteName> = new Set(["sendMessage", "resumeSession"]);

/** Answers of any length, to what only reads or whose work is found again under the id that its key gives it. */
const REPEATABLE: ReadonlySet<RouteName> = new Set([
  "searchStore",
  "listNamespaces",
  "startTask",
  "continueTask",
  "addTaskMessage",
]);

const ROUTE_LIST = Object.entries(ROUTES) as [RouteName, Route][];

/** Every route of the contract, as one application: parse at the border, call the handler, answer or explain. */
export function createApp(options: AppOptions): Hono<AppEnv> {
  const app = new Hono<AppEnv>();
  for (const [name, { method, path }] of ROUTE_LIST) {
    app.on(method, honoPath(path), (c) => answer(options, c, name));
  }
  app.notFound((c) => answer(options, c, undefined));
  return app;
}

async function answer(options: AppOptions, c: AppContext, name: RouteName | undefined): Promise<Response> {
  const arrived = describe(options, c, name);
  const onEnd = ending(c.env);
  let response: Response;
  try {
    const refused = await ask(options.guards, (guard) => guard.before?.(arrived));
    response = refused ?? (await dispatch(options, c, arrived, onEnd));
  } catch (error) {
    if (isFault(error)) options.onError(error, arrived);
    response = problemResponse(error, arrived.url.pathname);
  }
  response.headers.set("X-Request-Id", arrived.request_id);
  for (const guard of options.guards ?? []) guard.after?.(arrived, response);
  return deliver(response, c.req.raw, c.env, options.stall_ms);
}

/** What is done when the answer to a request has ended. Without a socket nobody knows of that: at once, for tests. */
function ending({ outgoing }: AppEnv["Bindings"] = {}): AdmittedRequest["onEnd"] {
  return (work) => {
    if (!outgoing || outgoing.closed) work();
    else outgoing.once("close", work);
  };
}

function describe({ clientAddress }: AppOptions, c: AppContext, route: RouteName | undefined): ArrivedRequest {
  const { raw } = c.req;
  const peer = c.env?.incoming?.socket.remoteAddress;
  return {
    request_id: requestId(raw.headers),
    method: raw.method,
    url: new URL(raw.url),
    headers: raw.headers,
    route,
    remote_address: clientAddress ? clientAddress(peer, raw.headers) : peer,
  };
}

/** `Headers` joins what was sent twice into one value, which would then be one more scope. */
function sentHeaders(c: AppContext): SentHeaders {
  const raw = c.env?.incoming?.rawHeaders;
  if (!raw) return c.req.raw.headers;
  return raw.flatMap((name, at) => (at % 2 === 0 ? [[name, raw[at + 1] ?? ""] as const] : []));
}

async function ask(
  guards: readonly Guard[] = [],
  question: (guard: Guard) => ReturnType<NonNullable<Guard["before"]>>,
): Promise<Response | undefined> {
  for (const guard of guards) {
    const response = await question(guard);
    if (response) return response;
  }
  return undefined;
}

async function dispatch(
  options: AppOptions,
  c: AppContext,
  arrived: ArrivedRequest,
  onEnd: AdmittedRequest["onEnd"],
): Promise<Response> {
  const { route: name, headers } = arrived;
  if (name === undefined) return (await options.page?.(arrived)) ?? refuse(arrived);
  const { authenticate = authenticateNobody, recheck_ms: every_ms = RECHECK_MS } = options;
  const caller = await callerOf(authenticate, name, headers);
  const scoping = options.scoping ?? { enabled: false, keys: [] };
  // What says nothing of a scope is told whose the credential is: figures of all scopes are not for one of them.
  const scope = SCOPELESS_ROUTES.has(name) ? caller.scope : scopeOf(sentHeaders(c), caller, scoping);
  const admitted = { ...arrived, route: name, scope, admin: caller.admin, onEnd };
  const refused = await ask(options.guards, (guard) => guard.admit?.(admitted));
  if (refused) return refused;
  const parsed = await parseRequest(ROUTES[name], c.req.raw, {
    params: c.req.param() as Record<string, string>,
    url: arrived.url,
    max_body_bytes: options.max_body_bytes ?? DEFAULT_MAX_BODY_BYTES,
  });
  const { request_id } = arrived;
  const call = { ...parsed, scope, admin: caller.admin, headers, request_id };
  // A signal costs something, and most handlers never look at theirs.
  Object.defineProperty(call, "signal", { get: () => signalOf(c.req.raw, options.shutdown), enumerable: true });
  const response = await handle(options, name, call as Call);
  const stream = streamOf(response);
  if (stream && authenticate !== authenticateNobody) watchStream(stream, { authenticate, headers, caller, every_ms });
  return response;
}

const RECHECK_MS = 15_000;
const STRANGER: Caller = { admin: false };
/** A storage that hangs says nothing of a credential either. */
const AUTHENTICATED_WITHIN_MS = 1_000;

/**
 * What is public answers everybody. Of these only /health has more to tell to whoever shows a good credential; a wrong
 * one is no reason to fail a probe, and neither is a storage that can't be asked: that is what the answer then says.
 */
async function callerOf(authenticate: Authenticate, name: RouteName, headers: Headers): Promise<Caller> {
  if (!PUBLIC_ROUTES.has(name)) return authenticate(headers);
  if (name !== "getHealth") return STRANGER;
  return answerWithin(AUTHENTICATED_WITHIN_MS, authenticate(headers), () => STRANGER).catch(() => STRANGER);
}

function signalOf(request: Request, shutdown: AbortSignal | undefined): AbortSignal {
  return shutdown ? AbortSignal.any([request.signal, shutdown]) : request.signal;
}

type AnyHandler = (call: Call) => Promise<unknown>;

async function handle(options: AppOptions, name: RouteName, call: Call): Promise<Response> {
  const route: Route = ROUTES[name];
  const handler = options.handlers[name] as AnyHandler | undefined;
  if (!handler) throw new AppError("not_supported", `This server does not offer "${route.summary}" (${name})`);
  const work = async (key_id?: string) => {
    const value = await handler(key_id === undefined ? call : Object.assign(call, { key_id }));
    return value instanceof Response ? value : toJsonReply(name, route, value, options.check_replies ?? false);
  };
  const result = await (hasKey(route, name, call) ? once(options, name, call, work) : work());
  return result instanceof Response ? result : jsonResponse(result);
}

type Keyed = Call & { body: { idempotency_key: string } };

function hasKey({ method }: Route, name: RouteName, call: Call): call is Keyed {
  if (method !== "POST" || IDEMPOTENT_THEMSELVES.has(name)) return false;
  return (call.body as { idempotency_key?: string } | undefined)?.idempotency_key !== undefined;
}

function once(
  options: AppOptions,
  name: RouteName,
  call: Keyed,
  work: (key_id: string) => Promise<JsonReply | Response>,
) {
  const { params, query, body, scope, signal } = call;
  const hash = requestHash(name, params, query, body);
  const request = { key: body.idempotency_key, hash, scope, signal, repeatable: REPEATABLE.has(name) };
  return options.idempotency.once<JsonReply>(request, async (key_id) => {
    const reply = await work(key_id);
    if (reply instanceof Response) throw new TypeError(`${name} must keep its own account of idempotency keys`);
    return reply;
  });
}

/** No route fits, or none for this method. A person who opens the address of a server without a page is shown what there is. */
function refuse({ method, url, headers }: ArrivedRequest): Response {
  if (url.pathname === "/" && method === "GET" && asksForHtml(headers)) {
    return new Response(null, { status: 302, headers: { Location: "docs" } });
  }
  const allow = methodsAt(url.pathname);
  if (allow.length === 0) {
    throw new AppError("route_not_found", `There is no ${url.pathname}; GET /docs lists what there is`);
  }
  if (method === "OPTIONS") return new Response(null, { status: 204, headers: { Allow: allow.join(", ") } });
  throw new AppError("method_not_allowed", `${url.pathname} takes ${allow.join(", ")}, not ${method}`, {
    details: { allow },
  });
}
