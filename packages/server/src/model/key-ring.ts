import { AppError } from "@cognition/contract";

export type Environment = Readonly<Record<string, string | undefined>>;

/** Which hosts each variable's key may be sent to: `host`, `host:port`, or `*.domain` for its subdomains. */
export type KeyHosts = Readonly<Record<string, readonly string[]>>;

/** The keys of the shipped providers, each for the host of its maker and no other. */
const DEFAULT_KEY_HOSTS: KeyHosts = {
  OPENAI_API_KEY: ["api.openai.com"],
  ANTHROPIC_API_KEY: ["api.anthropic.com"],
  GOOGLE_API_KEY: ["generativelanguage.googleapis.com"],
};

export interface KeyRing {
  has(name: string | null): boolean;
  /** Refuses a variable that is not on the list, or a host that it is not bound to: an address anyone may set must not get it. */
  check(name: string, url: string): void;
  /** The key, only for a host it is bound to. Throws `invalid_config` where the variable is not set. */
  read(name: string, url: string): string;
  /** The text without any key of the ring, whole or in part as providers quote it. */
  redact(text: string): string;
}

export interface KeyRingOptions {
  readonly env: Environment;
  readonly hosts?: KeyHosts;
}

export function createKeyRing({ env, hosts = {} }: KeyRingOptions): KeyRing {
  const allowed = new Map<string, readonly string[]>(Object.entries(DEFAULT_KEY_HOSTS));
  for (const [name, more] of Object.entries(hosts)) allowed.set(name, [...(allowed.get(name) ?? []), ...more]);

  const check = (name: string, url: string) => {
    const bound = allowed.get(name);
    if (!bound) {
      throw refused(
        `The variable ${name} is not on the list of provider keys`,
        [...allowed.keys()],
        "allowed variables",
      );
    }
    const { host, hostname } = new URL(url);
    if (!bound.some((entry) => matchesHost(entry, host, hostname))) {
      throw refused(`The key in ${name} may not be sent to ${host}`, bound, "allowed hosts");
    }
  };

  return {
    check,
    has: (name) => name !== null && Boolean(env[name]),
    read(name, url) {
      check(name, url);
      const key = env[name];
      if (key) return key;
      throw new AppError(
        "invalid_config",
        `The environment variable ${name} is not set. Set it and start the server again, or choose another provider.`,
        { details: { variable: name } },
      );
    },
    redact(text) {
      let clean = text;
      for (const name of allowed.keys()) {
        const key = env[name];
        if (key) clean = clean.replaceAll(key, `[${name}]`);
      }
      // Providers quote a refused key with stars in the middle; its ends are still a part of it.
      return clean
        .replace(/\b(sk|pk|key|AIza)[-_A-Za-z0-9]*[*.…]{2,}[-_A-Za-z0-9]*/g, "[key]")
        .replace(/\bsk-[-_A-Za-z0-9]{8,}/g, "[key]");
    },
  };
}

function matchesHost(entry: string, host: string, hostname: string): boolean {
  const wanted = entry.toLowerCase();
  if (wanted.startsWith("*.")) return hostname.endsWith(wanted.slice(1));
  return wanted === host || wanted === hostname;
}

function refused(what: string, valid: readonly string[], label: string): AppError {
  return new AppError(
    "invalid_config",
    `${what}; ${label}: ${valid.join(", ")}. An operator can allow more in the server's configuration.`,
    { details: { valid } },
  );
}
