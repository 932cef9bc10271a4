import { AppError } from "@cognition/contract";
import { errors, type JWTPayload, type JWTVerifyOptions, jwtVerify } from "jose";
import type { Authenticate } from "../guard.ts";
import { findCredential, missingCredential, unauthorized } from "./credential.ts";
import { isFetchFailure } from "./remote-keys.ts";
import { type ClaimOptions, callerOf } from "./token-claims.ts";
import { type TokenKeyOptions, type TokenKeys, tokenKeys } from "./token-keys.ts";

export interface TokenOptions extends TokenKeyOptions, ClaimOptions {
  issuer?: string;
  audience?: string;
  /** How far the clocks of issuer and server may be apart. */
  clock_tolerance_s?: number;
}

export interface TokenAuthenticatorOptions extends TokenOptions {
  clock: () => Date;
  fetch: typeof fetch;
  /** What goes wrong aside of an answer. */
  onError: (error: unknown) => void;
}

const CLOCK_TOLERANCE_S = 30;

/** Signed tokens only: `none` is in no list, and a secret never checks a signature meant for a public key. */
export function createTokenAuthenticator(options: TokenAuthenticatorOptions): Authenticate {
  const { key, algorithms } = tokenKeys(options);
  const checks: JWTVerifyOptions = {
    algorithms,
    clockTolerance: options.clock_tolerance_s ?? CLOCK_TOLERANCE_S,
    // A token without an end would outlive every mistake.
    requiredClaims: ["exp"],
    ...(options.issuer === undefined ? {} : { issuer: options.issuer }),
    ...(options.audience === undefined ? {} : { audience: options.audience }),
  };

  return async (headers) => {
    const token = findCredential(headers);
    if (token === undefined) throw missingCredential();
    const { payload } = await verify(token);
    return callerOf(payload, options);
  };

  async function verify(token: string): Promise<Verified> {
    try {
      return await verifyWithAny(token, key, { ...checks, currentDate: options.clock() });
    } catch (error) {
      throw explain(error);
    }
  }
}

type Verified = { payload: JWTPayload };

/** One that names no key is good if any that fits has signed it: while an issuer exchanges its keys there are two. */
async function verifyWithAny(token: string, key: TokenKeys["key"], checks: JWTVerifyOptions): Promise<Verified> {
  try {
    return await jwtVerify(token, key, checks);
  } catch (error) {
    if (!(error instanceof errors.JWKSMultipleMatchingKeys)) throw error;
    for await (const candidate of error) {
      const verified = await jwtVerify(token, candidate, checks).catch(unlessOtherKey);
      if (verified) return verified;
    }
    throw error;
  }
}

function unlessOtherKey(error: unknown): undefined {
  if (!(error instanceof errors.JWSSignatureVerificationFailed)) throw error;
}

/** The keys of the issuer that can't be fetched are no fault of the token's. */
function explain(error: unknown): AppError {
  if (error instanceof errors.JWTExpired) return unauthorized("The token has expired. Get a new one.", error);
  if (error instanceof errors.JWTClaimValidationFailed) {
    return unauthorized(`The token's claim "${error.claim}" does not do: ${error.reason}.`, error);
  }
  if (error instanceof errors.JOSEAlgNotAllowed) {
    return unauthorized("The token is signed in a way that this server does not accept.", error);
  }
  if (isFetchFailure(error)) {
    return new AppError(
      "auth_unavailable",
      "The keys that tokens are checked with can't be fetched just now. Nothing was done; try again.",
      { cause: error },
    );
  }
  return unauthorized("The token can't be verified.", error);
}
