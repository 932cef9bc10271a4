import { accessSync, constants } from "node:fs";
import { resolve } from "node:path";
import { AppError } from "@cognition/contract";
import type { Storage } from "./storage.ts";

/** Where the data is: what a URI and a backend's name come to. */
export type StorageTarget =
  | { backend: "sqlite"; path: string }
  | { backend: "memory"; path: ":memory:" }
  | { backend: "postgres"; url: string };

export interface TargetOptions {
  backend?: Storage["backend"] | undefined;
  uri?: string | undefined;
  workspace?: string | undefined;
}

const BACKENDS: readonly string[] = ["sqlite", "postgres", "memory"];
const DEFAULT_PATH = ".cognition/state.db";
const MEMORY = /^(sqlite:(\/\/)?)?(:memory:|memory:?)$/;
/** SQLAlchemy's names for its drivers, as connection strings of Python programs have them. */
const POSTGRES = /^postgres(ql)?(\+(asyncpg|psycopg))?:\/\//;
const SQLITE = /^sqlite:(\/\/)?/;
const SQLITE_FILE = /\.(db|sqlite3?)$/;
const SCHEME = /^([a-z][a-z0-9+.-]+):/i;

/** Never guesses: a backend and a URI that don't fit each other, or neither known, is an error. */
export function storageTarget({ backend, uri, workspace = process.cwd() }: TargetOptions): StorageTarget {
  if (backend !== undefined && !BACKENDS.includes(backend)) throw unknownBackend(`"${backend}"`);
  const wanted = uri === undefined ? (backend ?? "sqlite") : backendOf(uri, backend);
  if (backend !== undefined && backend !== wanted) throw misfit(backend, wanted);
  if (wanted === "memory") return { backend: "memory", path: ":memory:" };
  if (wanted === "sqlite") {
    return { backend: "sqlite", path: resolve(workspace, (uri ?? DEFAULT_PATH).replace(SQLITE, "")) };
  }
  if (uri === undefined)
    throw invalid('The backend "postgres" needs a URI, postgresql://user:password@host:5432/database');
  return { backend: "postgres", url: postgresUrl(uri) };
}

function backendOf(uri: string, backend: TargetOptions["backend"]): Storage["backend"] {
  if (uri.replace(SQLITE, "") === "") throw invalid("The storage URI is empty");
  if (uri.includes("\0")) throw invalid("The storage URI has a U+0000 in it");
  if (MEMORY.test(uri)) return "memory";
  if (POSTGRES.test(uri)) return "postgres";
  if (SQLITE.test(uri)) return "sqlite";
  // A single letter before the colon is a drive.
  const scheme = SCHEME.exec(uri)?.[1];
  if (scheme !== undefined) throw unknownBackend(`the scheme "${scheme}:"`);
  // Any name of a file will do once it is said that it is one.
  if (backend === "sqlite" || SQLITE_FILE.test(uri)) return "sqlite";
  if (backend !== undefined) throw misfit(backend, "sqlite");
  throw unknownBackend("the URI");
}

/** Checked here, since the driver would take half of an unreadable URL and try that. */
function postgresUrl(uri: string): string {
  const normalised = uri.replace(POSTGRES, "postgresql://");
  const url = URL.canParse(normalised) ? new URL(normalised) : undefined;
  if (!url || !isDecodable(url))
    throw invalid(
      "The PostgreSQL URI can't be read; characters like # % / ? @ in a password must be written %23 %25 %2F %3F %40",
    );
  // asyncpg's name for what every other driver calls sslmode.
  const ssl = url.searchParams.get("ssl");
  if (uri.includes("+asyncpg") && ssl !== null && !url.searchParams.has("sslmode")) {
    url.searchParams.delete("ssl");
    url.searchParams.set("sslmode", ssl);
  }
  checkEncryption(url.searchParams);
  return url.href;
}

/** Whatever asks for encryption gets it whole: the driver takes them all for the strictest today, and means to change that. */
const ENCRYPTED = ["prefer", "require", "verify-ca", "verify-full"];
const SSL_MODES = ["disable", "no-verify", ...ENCRYPTED];
const CERTIFICATES = ["sslrootcert", "sslcert", "sslkey"];

function checkEncryption(params: URLSearchParams): void {
  const mode = params.get("sslmode");
  if (mode !== null && !SSL_MODES.includes(mode))
    throw invalid(`sslmode=${mode} in the PostgreSQL URI is not known; valid are ${SSL_MODES.join(", ")}`);
  if (mode !== null && ENCRYPTED.includes(mode)) params.set("sslmode", "verify-full");
  for (const name of CERTIFICATES) {
    const file = params.get(name);
    if (file !== null && !isReadable(file))
      throw invalid(`${name}=${file} in the PostgreSQL URI names no file that can be read`);
  }
}

function isReadable(file: string): boolean {
  try {
    accessSync(file, constants.R_OK);
    return true;
  } catch {
    return false; // told by whoever asked
  }
}

function isDecodable({ username, password, pathname }: URL): boolean {
  try {
    decodeURIComponent(username + password + pathname);
    return true;
  } catch {
    return false;
  }
}

function unknownBackend(what: string): AppError {
  return new AppError(
    "unknown_backend",
    `No storage backend goes by ${what}. Valid are sqlite (a path that ends in .db or .sqlite, or sqlite:path), ` +
      "postgres (postgresql://user:password@host:5432/database) and memory.",
    { details: { valid: BACKENDS } },
  );
}

function misfit(backend: string, found: string): AppError {
  return invalid(`The backend is "${backend}", but the storage URI is one for "${found}"; change one of them`);
}

function invalid(message: string): AppError {
  return new AppError("invalid_config", message);
}
