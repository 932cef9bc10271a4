import { AppError } from "@cognition/contract";
import ipaddr from "ipaddr.js";

/** Whose request it is: the peer of the socket, or whom a proxy that is trusted speaks for. */
export type ClientAddress = (peer: string | undefined, headers: Headers) => string | undefined;

type Address = ipaddr.IPv4 | ipaddr.IPv6;
type Network = [address: Address, bits: number];

/**
 * Each proxy adds whom it saw to the end of `X-Forwarded-For`; what stands before is what it was told. So the list is read
 * from its end, for as long as whoever added an entry is trusted: a client can't choose the address that is counted.
 */
export function createClientAddress(trusted: readonly string[]): ClientAddress {
  const networks = trusted.map(parseNetwork);
  const isTrusted = (address: string) => networks.some((network) => isWithin(address, network));
  return (peer, headers) => {
    if (networks.length === 0 || peer === undefined) return peer;
    let client = peer;
    for (const entry of (headers.get("x-forwarded-for") ?? "").split(",").reverse()) {
      const address = addressOf(entry.trim());
      if (address === undefined || !isTrusted(client)) break;
      client = address;
    }
    return client;
  };
}

function parseNetwork(text: string): Network {
  if (ipaddr.isValidCIDR(text)) return ipaddr.parseCIDR(text);
  if (!isAddress(text)) {
    const message = `"${text}" in server.trusted_proxies is neither an address nor a range such as 10.0.0.0/8`;
    throw new AppError("invalid_config", message);
  }
  const address = ipaddr.process(text);
  return [address, address.kind() === "ipv4" ? 32 : 128];
}

function isWithin(text: string, [network, bits]: Network): boolean {
  if (!ipaddr.isValid(text)) return false;
  const address = ipaddr.process(text);
  return address.kind() === network.kind() && address.match(network, bits);
}

/** Some proxies add the port. */
function addressOf(entry: string): string | undefined {
  const [, inBrackets] = /^\[([^\]]+)\](?::\d+)?$/.exec(entry) ?? [];
  const [, beforePort] = /^([^:]+):\d+$/.exec(entry) ?? [];
  const address = inBrackets ?? beforePort ?? entry;
  return isAddress(address) ? address : undefined;
}

/** As proxies write it: the short forms of old, such as 10.1, are none. */
function isAddress(text: string): boolean {
  return ipaddr.IPv4.isValidFourPartDecimal(text) || ipaddr.IPv6.isValid(text);
}
