import { AppError } from "@cognition/contract";
import type { AddressGuard } from "../outgoing/address-guard.ts";

const LOCAL = /(^|\.)(localhost|local|internal)$/;
const LOOPBACK = "127.0.0.1";

/**
 * Refuses at once what could never be delivered: a literal address that is not public, a name that is always local. Other
 * names are looked at when they are called, since what they stand for may change until then.
 */
export function createCallbackCheck(guard: AddressGuard): (url: string) => void {
  return (text) => {
    const url = URL.parse(text);
    const reason = url ? (faultOf(url) ?? refusalOf(url, guard)) : "it is not an address";
    if (reason === undefined) return;
    throw new AppError(
      "callback_url_refused",
      `The callback_url is refused: ${reason}. Nothing was stored; an operator can allow addresses in webhooks.allow_addresses.`,
    );
  };
}

function faultOf({ protocol, username, password }: URL): string | undefined {
  if (protocol !== "http:" && protocol !== "https:") return "only http and https addresses are called";
  if (username !== "" || password !== "") return "it must not hold a user name or a password";
  return undefined;
}

function refusalOf(url: URL, guard: AddressGuard): string | undefined {
  const host = url.hostname.replace(/^\[(.*)\]$/, "$1").replace(/\.$/, "");
  const port = Number(url.port) || (url.protocol === "https:" ? 443 : 80);
  if (/^[\d.]+$/.test(host) || host.includes(":")) return guard.refusal(host, port, host);
  const isAllowed = !LOCAL.test(host) || guard.refusal(host, port, LOOPBACK) === undefined;
  return isAllowed ? undefined : `${host} is a name of this machine or its network`;
}
