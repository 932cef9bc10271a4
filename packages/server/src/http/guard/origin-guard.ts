import { AppError } from "@cognition/contract";
import type { ArrivedRequest, Guard } from "../guard.ts";
import { hostnameOf, isAddress, isLoopback } from "./known-host.ts";
import type { OriginList } from "./origin-list.ts";

export interface OriginGuardOptions {
  /** Where it listens. Other programs of that machine have pages on other ports of it, which are not this server's. */
  host: string;
  /** Names by which this server is reached, besides addresses and loopback names; `*` for any. */
  hosts: readonly string[];
  /** Web origins that may use it from the browser. */
  origins: OriginList;
}

/**
 * No web page drives a server that its visitor can reach: not from another site, and not through a name of its own that
 * it lets resolve to this machine. A program that is no browser sends none of these headers but Host.
 */
export function createOriginGuard({ host: listens_on, hosts, origins }: OriginGuardOptions): Guard {
  const names = new Set(hosts.map(nameOf));
  const own = listens_on.toLowerCase();
  // What comes by address can't come through a name that somebody else resolves.
  const isKnown = (hostname: string) =>
    names.has("*") || names.has(hostname) || hostname === own || isAddress(hostname) || isLoopback(hostname);

  return {
    before: (request) => {
      const host = request.headers.get("host") ?? request.url.host;
      const hostname = hostnameOf(host);
      if (hostname === undefined || !isKnown(hostname)) throw unknownHost(hostname ?? host);
      const origin = request.headers.get("origin");
      if (origin !== null) {
        if (!origins.has(origin) && !isOwn(origin, host, names)) throw foreignOrigin(origin);
      } else if (isCrossSite(request)) throw crossSite();
      return undefined;
    },
  };
}

/** As requests will have it. One that none could have, such as a name with a port, would be listed in vain. */
function nameOf(host: string): string {
  if (host === "*" || isAddress(host)) return host.toLowerCase();
  const name = /[:*]/.test(host) ? undefined : hostnameOf(host);
  if (name) return name;
  throw new AppError(
    "invalid_config",
    `"${host}" in server.hosts is not the name of a host. Write it as agents.example.com, without scheme and port; or * for any.`,
  );
}

/** A page of this server itself; behind a proxy that changes Host, one of its names. */
function isOwn(origin: string, host: string, names: ReadonlySet<string>): boolean {
  if (!URL.canParse(origin)) return false;
  const page = new URL(origin);
  return page.host === host.toLowerCase() || names.has(page.hostname);
}

/** A link that a person followed is not refused: it reads, and nothing of it reaches the page it was on. */
function isCrossSite({ method, headers }: ArrivedRequest): boolean {
  if (headers.get("sec-fetch-site") !== "cross-site") return false;
  const followed = headers.get("sec-fetch-mode") === "navigate" && headers.get("sec-fetch-dest") === "document";
  return !(followed && method === "GET");
}

function unknownHost(host: string): AppError {
  return refused(
    `This server is not known as "${host.slice(0, 255)}". If that is its name, add it to server.hosts (COGNITION_SERVER_HOSTS).`,
  );
}

function foreignOrigin(origin: string): AppError {
  return refused(
    `Pages of ${origin.slice(0, 255)} may not use this server. To let them, add the origin to cors.origins (COGNITION_CORS_ORIGINS).`,
  );
}

function crossSite(): AppError {
  return refused("A page of another site may not use this server.");
}

function refused(message: string): AppError {
  return new AppError("origin_refused", `${message} Nothing was done.`);
}
