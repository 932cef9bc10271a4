import type { AuthMode } from "@cognition/contract";
import type { ApiKeyStore } from "@cognition/thread";
import { type Authenticate, authenticateNobody } from "../guard.ts";
import { createKeyAuthenticator } from "./key-authenticator.ts";
import { createTokenAuthenticator, type TokenOptions } from "./token-authenticator.ts";

export interface AuthenticatorOptions {
  mode: AuthMode;
  apiKeys: ApiKeyStore;
  /** For `jwt`. */
  jwt?: TokenOptions;
  clock: () => Date;
  fetch: typeof fetch;
  /** What goes wrong aside of an answer: that a key was used could not be noted, or an issuer's keys not be fetched. */
  onError: (error: unknown) => void;
}

/** With `none` whoever can reach the server owns it: the address it listens on is the wall. */
export function createAuthenticator(options: AuthenticatorOptions): Authenticate {
  switch (options.mode) {
    case "none":
      return authenticateNobody;
    case "api_key":
      return createKeyAuthenticator(options);
    case "jwt":
      return createTokenAuthenticator({ ...options, ...options.jwt });
  }
}
