import type { ROUTES, RouteName, Scope } from "@cognition/contract";
import type { z } from "zod";

type Parsed<R, K extends string> = R extends { readonly [key in K]: infer S }
  ? S extends z.ZodType
    ? z.output<S>
    : S extends "bytes"
      ? Uint8Array
      : undefined
  : undefined;

/** A request that has passed the border: parsed by the route's schemas, its caller known. */
export interface Call<N extends RouteName = RouteName> {
  readonly params: Parsed<(typeof ROUTES)[N], "params">;
  readonly query: Parsed<(typeof ROUTES)[N], "query">;
  readonly body: Parsed<(typeof ROUTES)[N], "body">;
  /**
   * What the caller may see: exact equality with this, or everything where it is undefined (scoping is off and no scope
   * header was sent). What is created carries `scope ?? {}`.
   */
  readonly scope: Scope | undefined;
  /** Whether the caller may write what is shared by all scopes. */
  readonly admin: boolean;
  readonly headers: Headers;
  /** Where the client's stream broke off, of a route that has one. */
  readonly last_event_id: number | undefined;
  /** Aborts when the client is gone or the node shuts down. */
  readonly signal: AbortSignal;
  readonly request_id: string;
  /** Of a POST with an idempotency key: what it creates is to have this id. See `keyId`. */
  readonly key_id?: string;
}

/** The value of the route's `response` schema, sent as JSON with the route's status; a `Response` for anything else. */
type Reply<N extends RouteName> =
  | Response
  | ((typeof ROUTES)[N] extends { readonly response: infer S extends z.ZodType } ? z.input<S> : undefined);

type Handler<N extends RouteName> = (call: Call<N>) => Promise<Reply<N>>;

/** One handler for each route of the contract. A file of routes/ gives those of its noun. */
export type Handlers = { readonly [N in RouteName]: Handler<N> };
