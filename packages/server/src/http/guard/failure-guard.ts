import { createHash } from "node:crypto";
import { AppError } from "@cognition/contract";
import ipaddr from "ipaddr.js";
import { forgetOldest } from "../../forget-oldest.ts";
import { type ArrivedRequest, type Guard, PUBLIC_ROUTES } from "../guard.ts";

export interface FailureGuardOptions {
  /** Wrong credentials that one address may send in a minute, in a burst or not. */
  per_minute: number;
  /** Milliseconds, never going back. */
  now: () => number;
  /** How many addresses and how many good credentials are remembered; past it the oldest are forgotten. */
  kept?: number;
}

const MINUTE_MS = 60_000;
const KEPT = 10_000;

/**
 * Whoever guesses credentials is refused before one is looked up. Many people may share the address of a proxy with him,
 * so a credential that has been good here is let through to be checked as ever.
 */
export function createFailureGuard({ per_minute, now, kept = KEPT }: FailureGuardOptions): Guard {
  const cost = MINUTE_MS / per_minute;
  /** By address, when all of its failures will have been forgiven. */
  const forgivenAt = new Map<string, number>();
  const good = new Set<string>();

  function waitOf(address: string): number {
    return (forgivenAt.get(address) ?? 0) - now() - (MINUTE_MS - cost);
  }

  return {
    before: (request) => {
      const credential = credentialOf(request);
      if (credential === undefined) return undefined; // refused without a look at anything
      const wait = waitOf(networkOf(request.remote_address));
      // A hair above zero is a sum of fractions, not a wait.
      if (wait > 1e-6 && !good.has(credential)) throw tooMany(Math.ceil(wait / 1000));
      return undefined;
    },
    admit: (request) => {
      const credential = credentialOf(request);
      if (credential !== undefined) remember(good, credential, kept);
      return undefined;
    },
    after: (request, { status }) => {
      const credential = status === 401 ? credentialOf(request) : undefined;
      if (credential === undefined) return;
      good.delete(credential); // revoked, or expired
      const address = networkOf(request.remote_address);
      const until = Math.max(forgivenAt.get(address) ?? 0, now()) + cost;
      forgivenAt.delete(address);
      forgetOldest(forgivenAt, kept);
      forgivenAt.set(address, until);
    },
  };
}

/** A hash: what is kept in memory for long must not be a list of secrets. */
function credentialOf({ headers, route }: ArrivedRequest): string | undefined {
  if (route !== undefined && PUBLIC_ROUTES.has(route)) return undefined;
  const [bearer, key] = [headers.get("authorization"), headers.get("x-api-key")];
  if (bearer === null && key === null) return undefined;
  return createHash("sha256")
    .update(JSON.stringify([bearer, key]))
    .digest("base64");
}

function remember(set: Set<string>, value: string, kept: number): void {
  set.delete(value); // to the end: the first is the one that was not used for the longest time
  forgetOldest(set, kept);
  set.add(value);
}

/** Whoever has one IPv6 address has a network of them, of 64 bits at least. */
function networkOf(address = ""): string {
  if (!ipaddr.isValid(address)) return address;
  const parsed = ipaddr.process(address);
  return parsed.kind() === "ipv6" ? (parsed as ipaddr.IPv6).parts.slice(0, 4).join(":") : parsed.toString();
}

function tooMany(retry_after_s: number): AppError {
  return new AppError(
    "rate_limited",
    `Too many wrong credentials came from this address. This one was not looked at; try again in ${retry_after_s} s.`,
    { details: { retry_after_s } },
  );
}
