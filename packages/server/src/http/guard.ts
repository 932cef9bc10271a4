import type { RouteName, Scope } from "@cognition/contract";

/** A request as it arrived: nothing of it is parsed, and nobody knows yet who sent it. */
export interface ArrivedRequest {
  readonly request_id: string;
  readonly method: string;
  readonly url: URL;
  readonly headers: Headers;
  /** Undefined where no route of the contract fits. */
  readonly route: RouteName | undefined;
  /** The peer of the socket, or whom a trusted proxy speaks for; undefined in tests that use no socket. */
  readonly remote_address: string | undefined;
}

/** A request whose caller is known. */
export interface AdmittedRequest extends ArrivedRequest {
  readonly route: RouteName;
  readonly scope: Scope | undefined;
  readonly admin: boolean;
  /** Is done when the whole answer is sent, or the client has gone. */
  onEnd(work: () => void): void;
}

type Answer = Response | undefined | Promise<Response | undefined>;

/**
 * What every request passes, in the order in which the guards are given. A response that a guard gives is the answer; an
 * AppError that it throws becomes a problem. Neither reaches the handler.
 */
export interface Guard {
  /** First of all: origin, host, preflight. */
  before?(request: ArrivedRequest): Answer;
  /** Once the caller is known, before anything is parsed: rate limits. */
  admit?(request: AdmittedRequest): Answer;
  /**
   * Sees every answer just before it is sent, problems and refusals of other guards too, and may set headers: CORS,
   * security headers, the log line. Must not throw.
   */
  after?(request: ArrivedRequest, response: Response): void;
}

/** Who a credential stands for. A scope here binds: headers may repeat it, not contradict it. */
export interface Caller {
  readonly scope?: Scope;
  readonly admin: boolean;
}

/** Throws `unauthorized` where a credential is missing or wrong. */
export type Authenticate = (headers: Headers) => Promise<Caller>;

/** For `auth: none`, which is for a machine of one's own. */
export const authenticateNobody: Authenticate = async () => ({ admin: true });

/** Answer without a credential: probes have none, and a browser opens the docs before it has one. */
export const PUBLIC_ROUTES: ReadonlySet<RouteName> = new Set(["getHealth", "getReadiness", "getOpenApi", "getDocs"]);
/** Say nothing of any scope, and need none. */
export const SCOPELESS_ROUTES: ReadonlySet<RouteName> = new Set([...PUBLIC_ROUTES, "getMetrics"]);
