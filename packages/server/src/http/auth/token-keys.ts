import { createPublicKey, type KeyObject } from "node:crypto";
import { AppError } from "@cognition/contract";
import type { JWTVerifyGetKey } from "jose";
import { type RemoteKeyOptions, remoteKeys } from "./remote-keys.ts";

/** Exactly one of the three says what signatures are checked with. */
export interface TokenKeyOptions {
  /** Shared with the issuer: HS256, HS384, HS512. */
  secret?: string;
  /** A public key or certificate in PEM. */
  public_key?: string;
  /** Where the issuer publishes its keys; see `remoteKeys`. */
  jwks_url?: string;
  /** Which signatures are accepted; by default those that fit the key. */
  algorithms?: readonly string[];
}

export interface TokenKeys {
  key: Uint8Array | KeyObject | JWTVerifyGetKey;
  algorithms: string[];
}

/** As RFC 7518 asks for HS256: a shorter secret can be guessed from a single token. */
const MIN_SECRET_BYTES = 32;
const SYMMETRIC = ["HS256", "HS384", "HS512"];
const RSA = ["RS256", "RS384", "RS512", "PS256", "PS384", "PS512"];
const CURVES: Record<string, string> = { prime256v1: "ES256", secp384r1: "ES384", secp521r1: "ES512" };
const EDWARDS = ["EdDSA", "Ed25519"];
const ASYMMETRIC = [...RSA, ...Object.values(CURVES), ...EDWARDS];

export function tokenKeys(options: TokenKeyOptions & RemoteKeyOptions): TokenKeys {
  const given = [options.secret, options.public_key, options.jwks_url].filter((one) => one !== undefined);
  if (given.length !== 1) {
    throw invalid(`auth jwt needs exactly one of secret, public_key and jwks_url; ${given.length} are set`);
  }
  const { key, fitting } = keyOf(options);
  const algorithms = [...(options.algorithms ?? fitting)];
  const foreign = algorithms.filter((algorithm) => !fitting.includes(algorithm));
  if (foreign.length > 0 || algorithms.length === 0) {
    throw invalid(
      `auth jwt algorithms: ${foreign.join(", ") || "none"} can't be used here; valid are ${fitting.join(", ")}`,
    );
  }
  return { key, algorithms };
}

function keyOf(options: TokenKeyOptions & RemoteKeyOptions) {
  const { secret, public_key, jwks_url } = options;
  if (secret !== undefined) return { key: secretBytes(secret), fitting: SYMMETRIC };
  if (public_key !== undefined) return publicKey(public_key);
  return { key: remoteKeys(urlOf(jwks_url ?? ""), options), fitting: ASYMMETRIC };
}

function secretBytes(secret: string): Uint8Array {
  const bytes = new TextEncoder().encode(secret);
  if (bytes.length >= MIN_SECRET_BYTES) return bytes;
  throw invalid(`auth jwt secret has ${bytes.length} bytes; it needs at least ${MIN_SECRET_BYTES}`);
}

function publicKey(pem: string): { key: KeyObject; fitting: string[] } {
  let key: KeyObject;
  try {
    key = createPublicKey(pem);
  } catch (cause) {
    throw invalid("auth jwt public_key is not a public key or certificate in PEM", cause);
  }
  const fitting = fittingAlgorithms(key);
  if (fitting.length > 0) return { key, fitting };
  throw invalid(
    `auth jwt public_key is of the type ${key.asymmetricKeyType}; valid are RSA, P-256, P-384, P-521 and Ed25519`,
  );
}

function fittingAlgorithms({ asymmetricKeyType, asymmetricKeyDetails }: KeyObject): string[] {
  if (asymmetricKeyType === "rsa") return RSA;
  if (asymmetricKeyType === "ed25519") return EDWARDS;
  const curve = CURVES[asymmetricKeyDetails?.namedCurve ?? ""];
  return curve === undefined ? [] : [curve];
}

function urlOf(address: string): URL {
  const url = URL.canParse(address) ? new URL(address) : undefined;
  if (url && /^https?:$/.test(url.protocol)) return url;
  throw invalid("auth jwt jwks_url must be an http or https address");
}

function invalid(message: string, cause?: unknown): AppError {
  return new AppError("invalid_config", message, cause ? { cause } : {});
}
