import { AppError, isAppError } from "@cognition/contract";
import { describeUrl } from "./postgres-connections.ts";

/** What a person can do about a server that does not let us in; other errors pass as they are. Never tells the password. */
export function explainPostgresFailure(error: unknown, url: string): unknown {
  if (!isAppError(error, "storage_unavailable")) return error;
  const { code = "", message: told } = innermost(error.cause) as { code?: string; message?: string };
  const { username, pathname } = new URL(url);
  const user = decodeURIComponent(username);
  const database = decodeURIComponent(pathname.slice(1));
  const advice = told === NO_TLS ? noTls() : ADVICE[code]?.({ user, database });
  if (advice === undefined) return error;
  const message = `PostgreSQL at ${describeUrl(url)}: ${advice}${code && ` (${code})`}. Nothing was changed.`;
  return new AppError("storage_unavailable", message, { cause: error.cause });
}

type Advice = (names: { user: string; database: string }) => string;

const unreachable: Advice = () => "no server answers there; start it, or correct host and port in the URI";
const refusedUser: Advice = ({ user }) =>
  `the server refused user "${user}"; correct the user or the password in the URI`;

/** The driver's own words, which have no code. */
const NO_TLS = "The server does not support SSL connections";
const noTls = () => "the server takes no encrypted connections; turn TLS on there, or take sslmode out of the URI";
const unknownAuthority: Advice = () =>
  "its certificate is of an authority that is not known here; name that one's own with sslrootcert=<file> in the URI, " +
  "or ask for encryption alone with sslmode=no-verify";

const ADVICE: Readonly<Record<string, Advice>> = {
  ECONNREFUSED: unreachable,
  ECONNRESET: unreachable,
  EHOSTUNREACH: unreachable,
  ENETUNREACH: unreachable,
  ETIMEDOUT: unreachable,
  ENOTFOUND: () => "there is no host of that name; correct it in the URI",
  SELF_SIGNED_CERT_IN_CHAIN: unknownAuthority,
  DEPTH_ZERO_SELF_SIGNED_CERT: unknownAuthority,
  UNABLE_TO_VERIFY_LEAF_SIGNATURE: unknownAuthority,
  UNABLE_TO_GET_ISSUER_CERT_LOCALLY: unknownAuthority,
  CERT_HAS_EXPIRED: () => "its certificate has run out; renew it there",
  ERR_TLS_CERT_ALTNAME_INVALID: () =>
    "its certificate is for another name; connect by a name that is in it, or ask for encryption alone with sslmode=no-verify",
  "28P01": refusedUser,
  "28000": refusedUser,
  "3D000": ({ database }) => `the server has no database "${database}"; create it, or correct its name in the URI`,
  "42501": ({ user }) => `user "${user}" may not make tables there; grant it "create" on the schema`,
};

/** A name with several addresses fails with one error for each of them. */
function innermost(cause: unknown): unknown {
  return cause instanceof AggregateError ? (cause.errors[0] ?? cause) : (cause ?? {});
}
