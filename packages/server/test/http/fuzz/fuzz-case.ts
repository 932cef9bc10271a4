import { METHODS } from "node:http";
import { ROUTES, type RouteName } from "@cognition/contract";
import fc from "fast-check";
import { REQUESTS } from "../walk/cases.ts";
import { fieldsOf } from "../walk/fields.ts";
import { HUGE_BODY, oddBody, oddText, oddValue } from "./odd-value.ts";

/** A valid request on things that exist, of which one field is changed. */
export interface FieldCase {
  readonly kind: "field";
  readonly request: number;
  readonly field: string;
  readonly change: { readonly drop: true } | { readonly value: unknown };
}

/** A valid request sent in an odd way. */
export interface ManneredCase {
  readonly kind: "mannered";
  readonly request: number;
  readonly headers: readonly (readonly [string, string])[];
  readonly body: string | Buffer | undefined;
  readonly query: string;
}

/** A path and a method that may fit nothing. */
export interface WildCase {
  readonly kind: "wild";
  readonly method: string;
  readonly target: string;
  readonly headers: readonly (readonly [string, string])[];
  readonly body: string | Buffer | undefined;
}

export type FuzzCase = FieldCase | ManneredCase | WildCase;

const index = fc.nat({ max: REQUESTS.length - 1 });

const fieldCase: fc.Arbitrary<FieldCase> = index.chain((request) => {
  const { name } = REQUESTS[request] as { name: RouteName };
  const fields = fieldsOf(name);
  const extra = ROUTES[name].method === "GET" ? "query.surprise" : "body.surprise";
  return fc.record({
    kind: fc.constant("field" as const),
    request: fc.constant(request),
    field: fc.constantFrom(...fields, ...fields, extra),
    change: fc.oneof(
      { weight: 6, arbitrary: fc.record({ value: oddValue }) },
      { weight: 1, arbitrary: fc.constant({ drop: true as const }) },
    ),
  });
});

const oddHeader = fc.oneof(
  fc.tuple(
    fc.constantFrom(
      "Idempotency-Key",
      "Last-Event-ID",
      "If-Match",
      "Prefer",
      "traceparent",
      "X-Request-Id",
      "Range",
      "X-Cognition-Scope-User",
      "X-Cognition-Scope-__proto__",
      "X-Cognition-Scope-",
      "X-HTTP-Method-Override",
    ),
    fc.oneof(oddText, fc.constantFrom("1", "respond-async", '"1"', "*", "bytes=0-1", "a".repeat(300))),
  ),
  fc.tuple(
    fc.constant("Content-Type"),
    fc.constantFrom(
      "text/plain",
      "application/xml",
      "multipart/form-data; boundary=x",
      "application/x-www-form-urlencoded",
      "application/json; charset=utf-16",
      "nonsense",
      "",
    ),
  ),
  fc.tuple(
    fc.constant("Accept"),
    fc.constantFrom("application/json", "image/png", "text/html", "*/*;q=0", "a".repeat(500)),
  ),
  fc.tuple(fc.constantFrom("Content-Encoding", "Expect"), fc.constantFrom("gzip", "br", "100-continue")),
);

const headers = fc.array(oddHeader, { maxLength: 3 });

const query = fc.oneof(
  { weight: 3, arbitrary: fc.constant("") },
  {
    weight: 2,
    arbitrary: fc.constantFrom(
      "limit=1&limit=2",
      "limit=&offset=",
      "limit=1e3",
      "limit=99999999999999999999",
      "offset=-1",
      "cursor=x&offset=1",
      "session_id=a&session_id=b",
      "namespace=a&key=b&key=c",
      "metadata.=x",
      "metadata.a=1&metadata.a=2",
      "metadata.__proto__=1",
      "__proto__=1",
      "a=%ff%fe",
      "a=%",
      "a=%00",
      "type=token,nonsense",
      "after=-1",
      "archive=zip",
      "%F0%9F%98%80=1",
      "=&=&&",
    ),
  },
  {
    weight: 1,
    arbitrary: fc
      .tuple(oddText, oddText)
      .map((pair) => pair.map((text) => encodeURIComponent(text.toWellFormed())).join("=")),
  },
);

const body = fc.oneof(
  { weight: 60, arbitrary: fc.option(oddBody, { nil: undefined }) },
  { weight: 1, arbitrary: fc.constant(HUGE_BODY) },
);

const manneredCase: fc.Arbitrary<ManneredCase> = fc.record({
  kind: fc.constant("mannered" as const),
  request: index,
  headers,
  body,
  query,
});

const part = fc.oneof(
  {
    weight: 3,
    arbitrary: fc.constantFrom(
      "sessions",
      "artifacts",
      "agents",
      "store",
      "items",
      "chats",
      "files",
      "runs",
      "models",
      "providers",
      "health",
      "docs",
    ),
  },
  {
    weight: 2,
    arbitrary: fc.constantFrom(
      "",
      ".",
      "..",
      "%2e%2e",
      "%2F",
      "%5c",
      "%00",
      "%",
      "%zz",
      "%ff",
      "a%2Fb",
      "{id}",
      ":id",
      "*",
      "%F0%9F%98%80",
      "a".repeat(9_000),
    ),
  },
  { weight: 1, arbitrary: oddText.map((text) => encodeURIComponent(text.toWellFormed())) },
);

const wildCase: fc.Arbitrary<WildCase> = fc.record({
  kind: fc.constant("wild" as const),
  method: fc.oneof(
    { weight: 4, arbitrary: fc.constantFrom("GET", "POST", "PUT", "PATCH", "DELETE", "HEAD", "OPTIONS") },
    { weight: 1, arbitrary: fc.constantFrom(...METHODS.filter((method) => method !== "CONNECT")) },
  ),
  target: fc
    .tuple(fc.array(part, { maxLength: 5 }), query)
    .map(([parts, search]) => `/${parts.join("/")}${search && `?${search}`}`),
  headers,
  body,
});

/** Half of them one-field changes of valid requests on ids that exist. */
export const fuzzCase: fc.Arbitrary<FuzzCase> = fc.oneof(
  { weight: 2, arbitrary: fieldCase },
  { weight: 1, arbitrary: manneredCase },
  { weight: 1, arbitrary: wildCase },
);
