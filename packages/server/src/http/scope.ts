import { AppError, findScopeKey, parseInput, Scope, scopeHeader } from "@cognition/contract";
import type { Caller } from "./guard.ts";
import { headerText } from "./header-text.ts";

export interface Scoping {
  readonly enabled: boolean;
  readonly keys: readonly string[];
}

/** By name and value, as they came: a name that was sent twice is there twice. */
export type SentHeaders = Iterable<readonly [name: string, value: string]>;

/**
 * What the caller may see. Enabled: every configured key, from its header or bound to the credential; a header of any
 * other key is refused, since a client that sends it believes that it separates something. Disabled: what was sent, if
 * anything was, so that a client that already isolates keeps its isolation.
 */
export function scopeOf(headers: SentHeaders, caller: Caller, scoping: Scoping): Scope | undefined {
  const sent = sentScope(headers);
  if (scoping.enabled) {
    refuseUnbound(caller);
    refuseOtherKeys(sent, caller, scoping.keys);
  }
  refuseContradiction(sent, caller.scope ?? {});
  const scope = { ...sent, ...caller.scope };
  if (scoping.enabled) requireKeys(scope, scoping.keys);
  return scoping.enabled || caller.scope !== undefined || Object.keys(sent).length > 0 ? scope : undefined;
}

/** A key that is sent twice, in one spelling or in two, may be a client's beside its proxy's: neither is chosen. */
function sentScope(headers: SentHeaders): Scope {
  const sent = new Map<string, string>();
  for (const [name, value] of headers) {
    const key = findScopeKey(name);
    if (key === undefined) continue;
    if (sent.has(key)) throw sentTwice(key);
    sent.set(key, headerText(scopeHeader(key), value));
  }
  return parseInput(Scope, Object.fromEntries(sent), "header");
}

function sentTwice(key: string): AppError {
  const name = scopeHeader(key);
  const msg = "was sent more than once; send it once, in one spelling";
  return new AppError("validation_failed", `${name} ${msg}`, { details: { errors: [{ loc: ["header", name], msg }] } });
}

/** As made without a scope: it could name any. Made for any scope, it has none here. */
function refuseUnbound({ scope, admin }: Caller): void {
  if (admin || scope === undefined || Object.keys(scope).length > 0) return;
  throw new AppError(
    "forbidden",
    "The credential is good but bound to no scope, and scoping is on. Ask for one that is bound to yours.",
  );
}

function refuseOtherKeys(sent: Scope, { scope: bound = {} }: Caller, keys: readonly string[]): void {
  const errors = Object.keys(sent)
    .filter((key) => !keys.includes(key))
    .map((key) => ({
      loc: ["header", scopeHeader(key)],
      msg: `is no scope of this server; it has: ${keys.join(", ")}`,
    }));
  if (errors.length > 0) {
    const summary = errors.map(({ loc, msg }) => `${loc[1]} ${msg}`).join("; ");
    throw new AppError("validation_failed", summary, { details: { errors } });
  }
  const foreign = Object.keys(bound).filter((key) => !keys.includes(key));
  if (foreign.length > 0) {
    throw new AppError(
      "scope_mismatch",
      `The credential is bound to ${foreign.join(", ")}, by which this server does not separate. Ask for one that is bound to: ${keys.join(", ")}.`,
    );
  }
}

function refuseContradiction(sent: Scope, bound: Scope): void {
  const wrong = Object.keys(bound).filter((key) => sent[key] !== undefined && sent[key] !== bound[key]);
  if (wrong.length === 0) return;
  const names = wrong.map(scopeHeader);
  throw new AppError(
    "scope_mismatch",
    `${names.join(", ")} contradicts what the credential is bound to. Leave the header out, or send the bound value.`,
    { details: { headers: names } },
  );
}

function requireKeys(scope: Scope, keys: readonly string[]): void {
  const missing = keys.filter((key) => scope[key] === undefined).map(scopeHeader);
  if (missing.length === 0) return;
  throw new AppError("scope_required", `This server separates by scope; send ${missing.join(" and ")}.`, {
    details: { headers: missing },
  });
}
