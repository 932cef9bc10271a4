import {
  createLocalJWKSet,
  createRemoteJWKSet,
  customFetch,
  type ExportedJWKSCache,
  errors,
  type FetchImplementation,
  type JWTVerifyGetKey,
  jwksCache,
} from "jose";

export interface RemoteKeyOptions {
  fetch: typeof fetch;
  /** Told that the keys can't be fetched while those from before are used. */
  onError: (error: unknown) => void;
}

/** An issuer that is away for a while locks nobody out; one that withdraws a key is heard in time. */
const KEPT_MS = 3_600_000;
/** So long after a fetch that failed none is tried for a key that is known: each would hold its request up. */
const RETRY_MS = 30_000;

/** The keys that an issuer publishes: fetched when needed, fresh for ten minutes, and kept for an hour while it is away. */
export function remoteKeys(url: URL, { fetch, onError }: RemoteKeyOptions): JWTVerifyGetKey {
  const cache: Partial<ExportedJWKSCache> = {};
  const remote = createRemoteJWKSet(url, {
    [customFetch]: fetch as FetchImplementation,
    [jwksCache]: cache as Record<string, never>, // filled by jose
  });
  let failed_at = Number.NEGATIVE_INFINITY;
  let known: { jwks: unknown; find: ReturnType<typeof createLocalJWKSet> } | undefined;

  async function findKnown(...place: Parameters<JWTVerifyGetKey>) {
    const { jwks, uat = 0 } = cache;
    if (!jwks || Date.now() - uat > KEPT_MS) return undefined;
    if (known?.jwks !== jwks) known = { jwks, find: createLocalJWKSet(jwks) };
    return known.find(...place).catch(unlessMissing);
  }

  return async (...place) => {
    const waits = Date.now() - failed_at < RETRY_MS;
    const key = waits ? await findKnown(...place) : undefined;
    if (key) return key;
    try {
      return await remote(...place);
    } catch (error) {
      if (!isFetchFailure(error)) throw error;
      const kept = await findKnown(...place);
      if (!kept) throw error; // it may be among those that can't be fetched
      failed_at = Date.now();
      onError(error);
      return kept;
    }
  };
}

function unlessMissing(error: unknown): undefined {
  if (!(error instanceof errors.JWKSNoMatchingKey)) throw error;
}

const JOSE_GENERIC = "ERR_JOSE_GENERIC";

/** jose reports an answer that is no key set as its generic error, and a failed connection as fetch does. */
export function isFetchFailure(error: unknown): boolean {
  if (error instanceof errors.JWKSTimeout || error instanceof errors.JWKSInvalid) return true;
  if (error instanceof errors.JOSEError) return error.code === JOSE_GENERIC;
  return error instanceof Error;
}
