import { AppError, findScopeKey, parseInput, Scope, scopeHeader } from "@cognition/contract";
import type { Caller } from "./guard.ts";

export interface Scoping {
  readonly enabled: boolean;
  readonly keys: readonly string[];
}

/**
 * What the caller may see. Enabled: every configured key, from its header or bound to the credential; a header of any
 * other key is refused, since a client that sends it believes that it separates something. Disabled: what was sent, if
 * anything was, so that a client that already isolates keeps its isolation.
 */
export function scopeOf(headers: Headers, caller: Caller, scoping: Scoping): Scope | undefined {
  const sent = sentScope(headers);
  if (scoping.enabled) refuseOtherKeys(sent, caller, scoping.keys);
  refuseContradiction(sent, caller.scope ?? {});
  const scope = { ...sent, ...caller.scope };
  if (scoping.enabled) requireKeys(scope, scoping.keys);
  return scoping.enabled || caller.scope !== undefined || Object.keys(sent).length > 0 ? scope : undefined;
}

function sentScope(headers: Headers): Scope {
  const pairs: [string, string][] = [];
  for (const [name, value] of headers) {
    const key = findScopeKey(name);
    if (key !== undefined) pairs.push([key, value]);
  }
  return parseInput(Scope, Object.fromEntries(pairs), "header");
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
