import type { z } from "zod";

export type Method = "GET" | "POST" | "PUT" | "PATCH" | "DELETE";

/** What a route answers with when it is not an error. `stream` is server-sent events of StreamEvent. */
export type Media = "json" | "stream" | "bytes" | "text" | "html" | "none";

export interface Route {
  readonly method: Method;
  readonly path: string;
  readonly summary: string;
  /** The status of a plain success. */
  readonly status: number;
  /** First the default, then what `Accept` may ask for. */
  readonly media: readonly Media[];
  readonly params?: z.ZodType;
  readonly query?: z.ZodType;
  /** A schema for JSON, `bytes` for a raw body. */
  readonly body?: z.ZodType | "bytes";
  readonly response?: z.ZodType;
  /** `Prefer: respond-async` answers 202 with the run. */
  readonly async?: true;
}

type Shape = Omit<Route, "method" | "path" | "summary" | "status" | "media"> & Partial<Pick<Route, "status" | "media">>;

function route<const P extends string, S extends Shape>(method: Method, path: P, summary: string, shape: S) {
  const media: readonly Media[] = shape.response ? ["json"] : ["none"];
  const status = shape.response || shape.media ? 200 : 204;
  return { status, media, ...shape, method, path, summary };
}

// The path stays a literal: the client's methods take what stands in braces as their first arguments.
type Define = <const P extends string, S extends Shape>(
  path: P,
  summary: string,
  shape: S,
) => ReturnType<typeof route<P, S>>;

export const get: Define = (path, summary, shape) => route("GET", path, summary, shape);
export const post: Define = (path, summary, shape) => route("POST", path, summary, shape);
export const put: Define = (path, summary, shape) => route("PUT", path, summary, shape);
export const patch: Define = (path, summary, shape) => route("PATCH", path, summary, shape);
export const del: Define = (path, summary, shape) => route("DELETE", path, summary, shape);
