import { isIP } from "node:net";

/** The name without port and brackets, in lower case; undefined for a text that is no host. */
export function hostnameOf(host: string): string | undefined {
  const address = `http://${host}`;
  if (/[/\\?#@\s]/.test(host) || !URL.canParse(address)) return undefined;
  return bare(new URL(address).hostname);
}

export function isAddress(hostname: string): boolean {
  return isIP(bare(hostname)) !== 0;
}

/** Names and addresses that no other machine can answer to. */
export function isLoopback(hostname: string): boolean {
  const name = bare(hostname);
  if (isIP(name) === 4) return name.startsWith("127.");
  return name === "localhost" || name.endsWith(".localhost") || name === "::1" || name.startsWith("::ffff:127.");
}

function bare(hostname: string): string {
  return hostname
    .toLowerCase()
    .replace(/^\[|\]$/g, "")
    .replace(/\.$/, "");
}
