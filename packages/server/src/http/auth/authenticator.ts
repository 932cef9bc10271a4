import type { AuthMode, Scope } from "@cognition/contract";
import type { ApiKeyStore } from "@cognition/thread";
import { createKeyAuthenticator } from "./key-authenticator.ts";
import { createTokenAuthenticator, type TokenOptions } from "./token-authenticator.ts";

/** Who asks. Without a scope the caller is bound to none, and the request's own headers say which one it acts for. */
export interface Caller {
  scope?: Scope;
  /** Whether it may write what all scopes share. */
  admin: boolean;
}

/** Rejects with `unauthorized` where the request shows nothing that would do. */
export type Authenticate = (headers: Headers) => Promise<Caller>;

export interface AuthenticatorOptions {
  mode: AuthMode;
  apiKeys: ApiKeyStore;
  /** For `jwt`. */
  jwt?: TokenOptions;
  clock: () => Date;
  fetch: typeof fetch;
  /** What goes wrong aside of an answer: that a key was used could not be noted. */
  onError: (error: unknown) => void;
}

/** With `none` whoever can reach the server owns it: the address it listens on is the wall. */
export function createAuthenticator(options: AuthenticatorOptions): Authenticate {
  switch (options.mode) {
    case "none":
      return async () => ({ admin: true });
    case "api_key":
      return createKeyAuthenticator(options);
    case "jwt":
      return createTokenAuthenticator({ ...options.jwt, clock: options.clock, fetch: options.fetch });
  }
}
