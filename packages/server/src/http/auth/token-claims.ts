import { AppError, isJsonObject, Scope } from "@cognition/contract";
import type { JWTPayload } from "jose";
import type { Caller } from "../guard.ts";
import { unauthorized } from "./credential.ts";

export interface ClaimOptions {
  /** A claim that holds the scope as an object. A name with dots leads into nested ones. */
  scope_claim?: string;
  /** Scope key → claim, where the issuer has them one by one: `{ user: "sub" }`. They win over `scope_claim`. */
  scope_claims?: Readonly<Record<string, string>>;
  /** Whose holder is an administrator: where it is true, or where it is or contains `admin_value`. */
  admin_claim?: string;
  admin_value?: string;
  /** Set where scoping is on: a token that is bound to nothing could name any scope. */
  scope_required?: boolean;
}

/** Not "scope", which in OAuth is a text of permissions. */
const SCOPE_CLAIM = "cognition_scope";
const ADMIN_CLAIM = "cognition_admin";

export function callerOf(payload: JWTPayload, options: ClaimOptions): Caller {
  const admin = isAdmin(findClaim(payload, options.admin_claim ?? ADMIN_CLAIM), options.admin_value);
  const scope = scopeOf(payload, options);
  if (scope !== undefined) return { scope, admin };
  if (options.scope_required && !admin) {
    throw new AppError(
      "forbidden",
      `The token is good but bound to no scope, and scoping is on. It needs the claim ${wantedClaims(options)}.`,
    );
  }
  return { admin };
}

function scopeOf(payload: JWTPayload, options: ClaimOptions): Scope | undefined {
  const { scope_claim = SCOPE_CLAIM, scope_claims = {} } = options;
  const whole = findClaim(payload, scope_claim) ?? {};
  const parsed = isJsonObject(whole)
    ? Scope.safeParse({ ...whole, ...singleClaims(payload, scope_claims) })
    : undefined;
  if (!parsed?.success) {
    throw unauthorized(`The token's claim ${wantedClaims(options)} is not a scope: an object of keys and texts.`);
  }
  // Bound to no key is bound to nothing.
  return Object.keys(parsed.data).length === 0 ? undefined : parsed.data;
}

function singleClaims(payload: JWTPayload, claims: Readonly<Record<string, string>>): Record<string, string> {
  const pairs = Object.entries(claims).map(([key, claim]) => {
    const value = textOf(findClaim(payload, claim), claim);
    if (value === undefined) throw unauthorized(`The token lacks the claim ${claim}, which would say its ${key}.`);
    return [key, value] as const;
  });
  return Object.fromEntries(pairs);
}

function isAdmin(claim: unknown, value: string | undefined): boolean {
  if (value === undefined) return claim === true;
  return Array.isArray(claim) ? claim.includes(value) : claim === value;
}

/** The claim of exactly that name (they may be URLs, with dots), else the one that the dots lead to. */
function findClaim(payload: JWTPayload, name: string): unknown {
  if (Object.hasOwn(payload, name)) return payload[name];
  let at: unknown = payload;
  for (const part of name.split(".")) {
    if (!isJsonObject(at) || !Object.hasOwn(at, part)) return undefined;
    at = at[part];
  }
  return at;
}

/** Beyond what a double holds, JSON makes one number of several: two users would have one scope. */
function textOf(value: unknown, claim: string): string | undefined {
  if (typeof value !== "number") return typeof value === "string" && value !== "" ? value : undefined;
  if (Number.isSafeInteger(value)) return String(value);
  throw unauthorized(
    `The token's claim ${claim} is a number that is not whole or too large to be exact. It must be a text.`,
  );
}

function wantedClaims({ scope_claim = SCOPE_CLAIM, scope_claims = {} }: ClaimOptions): string {
  const single = Object.values(scope_claims);
  return single.length > 0 ? single.join(", ") : scope_claim;
}
