import { AuthMode, ScopeKey } from "@cognition/contract";
import { z } from "zod";
import { decimal, httpUrl, oneOf, onOff, option, section, wholeNumber, words } from "../option.ts";

const Jwt = section({
  secret: option(words("a text of at least 32 bytes").optional(), {
    description: "The secret that tokens are signed with (HS256). One of `secret`, `public_key` and `jwks_url`.",
    secret: true,
    unset: "none",
  }),
  public_key: option(words("a public key in PEM").optional(), {
    description: "The public key or certificate of the issuer, in PEM.",
    unset: "none",
  }),
  jwks_url: option(httpUrl().optional(), { description: "Where the issuer publishes its keys.", unset: "none" }),
  algorithms: option(z.array(z.string(), { error: "must be a list of algorithms" }).optional(), {
    description: "Signatures that are accepted; unsigned tokens never are.",
    unset: "all that fit the key",
  }),
  issuer: option(words("a text").optional(), { description: "What `iss` must be.", unset: "any" }),
  audience: option(words("a text").optional(), { description: "What `aud` must be or contain.", unset: "any" }),
  clock_tolerance: option(decimal(0, 3600).default(30), {
    description: "Seconds that the issuer's clock may be off.",
  }),
  scope_claim: option(words("the name of a claim").default("cognition_scope"), {
    description: "The claim that holds the scope as an object; dots lead into nested claims.",
  }),
  scope_claims: option(
    z.record(ScopeKey, z.string().min(1), { error: "must map scope keys to names of claims" }).default({}),
    { description: "Scope key → claim, where they come one by one: `{user: sub}`. All must be there." },
  ),
  admin_claim: option(words("the name of a claim").default("cognition_admin"), {
    description: "The claim that makes an administrator: true, or what `admin_value` says.",
  }),
  admin_value: option(words("a text").optional(), {
    description: "What the admin claim must be, or contain where it is a list.",
    unset: "true",
  }),
});

export const AuthSection = section({
  mode: option(oneOf(AuthMode.options as ["none", "api_key", "jwt"]).default("none"), {
    description: "How callers show who they are. `none` listens on this machine's own addresses only.",
  }),
  allow_unauthenticated: option(onOff().default(false), {
    description: "Start without authentication on an address that others can reach.",
  }),
  failures_per_minute: option(wholeNumber(0, 1_000_000).default(60), {
    description:
      "Wrong credentials a minute that one address may send before it is refused unread; 0 for no limit. A credential that has worked here still does.",
  }),
  recheck_interval: option(decimal(0.1, 3600).default(15), {
    description:
      "Seconds after which the credential of an open event stream is looked at again; a revoked or expired one ends it.",
  }),
  jwt: Jwt,
});

export const CorsSection = section({
  origins: option(z.array(z.string(), { error: "must be a list of web origins" }).default([]), {
    description: "Web origins whose pages may use this server, as `https://app.example.com`; `*` for all.",
  }),
});

export const RateLimitSection = section({
  per_second: option(decimal(0, 1_000_000).default(0), {
    description: "Requests a second that each scope may send in the long run; 0 for no limit.",
  }),
  burst: option(wholeNumber(1, 1_000_000).default(50), { description: "Requests that each scope may send at once." }),
  open: option(wholeNumber(0, 1_000_000).default(1_000), {
    description:
      "Requests that each scope may have open at once on a node, its event streams among them; 0 for no limit. Callers without a scope have none.",
  }),
  shared: option(onOff().default(false), {
    description: "Count over all nodes, in the storage (a round trip for each request), instead of on each node.",
  }),
});
