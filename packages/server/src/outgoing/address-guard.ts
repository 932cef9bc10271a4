import { AppError } from "@cognition/contract";
import ipaddr from "ipaddr.js";

type Address = ipaddr.IPv4 | ipaddr.IPv6;

export interface AddressGuard {
  /** Why a request for `host` must not be sent to `address`; undefined if it may. */
  refusal(host: string, port: number, address: string): string | undefined;
}

/** All that is handed out to the public so far. Names every later invention of a special range that ipaddr.js lacks. */
const GLOBAL_IPV6 = ipaddr.IPv6.parseCIDR("2000::/3");

/**
 * Only public addresses, and what `allow` adds: an address, a range (`10.1.0.0/16`), a host or `host:port`. An allowed host
 * may have any address. The embedded forms of IPv4 in IPv6 (mapped, NAT64, 6to4, Teredo) are refused even around a public
 * address: no page needs them, and where a gateway translates them they lead anywhere.
 */
export function createAddressGuard(allow: readonly string[] = []): AddressGuard {
  const ranges = allow.map(parseRange).filter((range) => range !== undefined);
  const hosts = new Set(allow.filter((entry) => parseRange(entry) === undefined).map(parseHost));

  return {
    refusal(host, port, address) {
      const name = host.toLowerCase().replace(/\.$/, "");
      if (hosts.has(name) || hosts.has(`${name}:${port}`)) return undefined;
      const parsed = parseAddress(address);
      if (!parsed) return `${address} is not an IP address`;
      if (ranges.some(([base, bits]) => base.kind() === parsed.kind() && parsed.match(base, bits))) return undefined;
      const kind = parsed.range();
      if (kind !== "unicast") return `${address} is not a public address (${kind})`;
      const global = parsed.kind() === "ipv4" || parsed.match(GLOBAL_IPV6);
      return global ? undefined : `${address} is not a public address (outside 2000::/3)`;
    },
  };
}

// `isValid` alone takes "127.1" and "0x7f.0.0.1"; a resolver never answers so.
function parseAddress(text: string): Address | undefined {
  if (ipaddr.IPv4.isValidFourPartDecimal(text)) return ipaddr.IPv4.parse(text);
  return ipaddr.IPv6.isValid(text) ? ipaddr.IPv6.parse(text) : undefined;
}

function parseRange(entry: string): [Address, number] | undefined {
  const bare = entry.replace(/^\[(.*)\]$/, "$1");
  const address = parseAddress(bare);
  if (address) return [address, address.kind() === "ipv4" ? 32 : 128];
  return ipaddr.isValidCIDR(bare) ? ipaddr.parseCIDR(bare) : undefined;
}

function parseHost(entry: string): string {
  const host = entry.toLowerCase();
  if (/^[a-z0-9_]([a-z0-9_.-]*[a-z0-9_])?(:\d{1,5})?$/.test(host)) return host;
  throw new AppError(
    "invalid_config",
    `"${entry}" in the list of allowed addresses is none of: an address, a range like 10.0.0.0/8, a host, host:port`,
  );
}
