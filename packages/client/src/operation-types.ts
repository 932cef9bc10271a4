import type { ROUTES, RouteName } from "@cognition/contract";
import type { Bytes, RequestOptions } from "./transport.ts";

/** As zod's types have it: what a schema takes and what it gives. */
interface Schema<I, O> {
  readonly _zod: { readonly input: I; readonly output: O };
}
type InputOf<S> = S extends Schema<infer I, unknown> ? I : S extends "bytes" ? Bytes : never;
type OutputOf<S> = S extends Schema<unknown, infer O> ? O : never;

type Routes = typeof ROUTES;
type Names<P extends string> = P extends `${string}{${infer N}}${infer Rest}` ? [N, ...Names<Rest>] : [];
type Texts<T extends readonly unknown[]> = { [K in keyof T]: string };
type PathArguments<P extends string> = Texts<Names<P>>;
type Input<R> = R extends { readonly body: infer B }
  ? InputOf<B>
  : R extends { readonly query: infer Q }
    ? InputOf<Q>
    : never;
type SecondQuery<R> = R extends { readonly body: unknown; readonly query: infer Q } ? InputOf<Q> : never;

export interface CallOptions<Q = never> extends RequestOptions {
  /** Names one request for ever, so that its repetition is not a second one; by default a new key for each POST that does something. */
  readonly idempotencyKey?: string | undefined;
  /** The query of an operation that has a body too. */
  readonly query?: Q | undefined;
}

type Arguments<R> = [Input<R>] extends [never]
  ? [options?: CallOptions]
  : object extends Input<R>
    ? [input?: Input<R>, options?: CallOptions<SecondQuery<R>>]
    : [input: Input<R>, options?: CallOptions<SecondQuery<R>>];

type Result<N extends RouteName> = Routes[N] extends { readonly response: infer S }
  ? OutputOf<S>
  : N extends "getFile" | "getArtifactContent"
    ? Uint8Array
    : N extends "getMetrics" | "getDocs"
      ? string
      : undefined;

/** Those that stream have methods of their own. */
type PlainRoute = Exclude<RouteName, "sendMessage" | "listRunEvents">;

/** First what stands in the path, then the body or the query, then options. */
export type RouteMethods = {
  readonly [N in PlainRoute]: (
    ...args: [...PathArguments<Routes[N]["path"]>, ...Arguments<Routes[N]>]
  ) => Promise<Result<N>>;
};

export interface Operations extends RouteMethods {
  /** Another name for `listMessages`. */
  readonly getMessages: RouteMethods["listMessages"];
  /** The session's workspace as a tar archive. */
  downloadFiles(session_id: string, options?: RequestOptions): Promise<Uint8Array>;
}
