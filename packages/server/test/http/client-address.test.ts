import { expect, it } from "vitest";
import { createClientAddress } from "../../src/http/client-address.ts";

const clientOf = (trusted: string[], peer: string | undefined, forwarded?: string) =>
  createClientAddress(trusted)(peer, new Headers(forwarded === undefined ? {} : { "X-Forwarded-For": forwarded }));

it("is the peer's, whatever it claims, unless the peer is trusted", () => {
  expect(clientOf([], "192.0.2.1", "198.51.100.7")).toBe("192.0.2.1");
  expect(clientOf(["10.0.0.0/8"], "192.0.2.1", "198.51.100.7")).toBe("192.0.2.1");
  expect(clientOf(["10.0.0.0/8"], undefined, "198.51.100.7")).toBeUndefined();
  expect(clientOf(["10.0.0.0/8"], "10.1.2.3", "198.51.100.7")).toBe("198.51.100.7");
  expect(clientOf(["10.0.0.0/8"], "::ffff:10.1.2.3", "198.51.100.7")).toBe("198.51.100.7");
  expect(clientOf(["10.0.0.0/8"], "10.1.2.3")).toBe("10.1.2.3");
});

it("is the last that a trusted proxy saw: what a client wrote before that counts for nothing", () => {
  const chain = ["10.0.0.0/8", "2001:db8::/32"];
  expect(clientOf(chain, "10.0.0.1", "1.2.3.4, 198.51.100.7")).toBe("198.51.100.7");
  expect(clientOf(chain, "10.0.0.1", "1.2.3.4, 198.51.100.7, 10.0.0.2, 2001:db8::5")).toBe("198.51.100.7");
  expect(clientOf(chain, "10.0.0.1", "10.0.0.3, 10.0.0.2")).toBe("10.0.0.3");
});

it("takes entries with a port, and stops at what is no address", () => {
  expect(clientOf(["10.0.0.1"], "10.0.0.1", "198.51.100.7:4711")).toBe("198.51.100.7");
  expect(clientOf(["10.0.0.1"], "10.0.0.1", "[2001:db8::9]:4711")).toBe("2001:db8::9");
  for (const odd of ["unknown", "", "_hidden", "1", "198.51.100.7, nobody", "1.2.3.4.5"]) {
    expect(clientOf(["10.0.0.1"], "10.0.0.1", odd), odd).toBe("10.0.0.1");
  }
});

it("stops the start at what is no network", () => {
  for (const good of ["10.0.0.0/8", "10.0.0.1", "::1", "2001:db8::/32"]) createClientAddress([good]);
  for (const bad of ["", "10", "10.0.0.0/33", "proxy", "10.0.0.1/x", "*"]) {
    expect(() => createClientAddress([bad]), bad).toThrow(`"${bad}" in server.trusted_proxies`);
  }
});
