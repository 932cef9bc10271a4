import { AppError } from "@cognition/contract";

/** Longer than any key and any sensible token: what is hashed or parsed for a stranger has a limit. */
const MAX_CREDENTIAL_LENGTH = 8_192;
const BEARER = /^bearer +([^\s]+) *$/i;

/** What the request shows of itself: `Authorization: Bearer …` or `X-API-Key: …`; undefined if neither is there. */
export function findCredential(headers: Headers): string | undefined {
  const bearer = findBearer(headers.get("authorization"));
  const key = headers.get("x-api-key")?.trim() || undefined;
  if (bearer !== undefined && key !== undefined && bearer !== key) {
    throw unauthorized("The request carries two credentials that differ, in Authorization and in X-API-Key. Send one.");
  }
  const credential = bearer ?? key;
  if (credential !== undefined && credential.length > MAX_CREDENTIAL_LENGTH) {
    throw unauthorized(`The credential is longer than the limit of ${MAX_CREDENTIAL_LENGTH} characters.`);
  }
  return credential;
}

function findBearer(authorization: string | null): string | undefined {
  if (authorization === null) return undefined;
  const found = BEARER.exec(authorization)?.[1];
  if (found === undefined) throw unauthorized('The Authorization header must have the form "Bearer <credential>".');
  return found;
}

export function missingCredential(): AppError {
  return new AppError(
    "unauthorized",
    "This server needs a credential, and the request has none. Send Authorization: Bearer <credential> or X-API-Key.",
  );
}

/** A credential that does not do. The message never holds any of it. */
export function unauthorized(message: string, cause?: unknown): AppError {
  return new AppError("unauthorized", message, cause === undefined ? {} : { cause });
}
