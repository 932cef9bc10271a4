import type { RequestListener } from "node:http";
import { brotliCompressSync, gzipSync } from "node:zlib";
import { afterEach, describe, expect, it } from "vitest";
import { createAddressGuard } from "../../src/outgoing/address-guard.ts";
import { createGuardedFetch } from "../../src/outgoing/guarded-fetch.ts";
import { startWebServer, type WebServer } from "../tool/web-server.ts";

const started: WebServer[] = [];
const serve = async (listener: RequestListener, host?: string, port?: number) => {
  const server = await startWebServer(listener, host, port);
  started.push(server);
  return server;
};
afterEach(() => Promise.all(started.splice(0).map((server) => server.close())));

const allow = ["127.0.0.1"];
const text = (body: Uint8Array) => new TextDecoder().decode(body);

describe("addresses that are refused", () => {
  const guard = createAddressGuard();
  it.each([
    ["unspecified", "0.0.0.0"],
    ["this network", "0.1.2.3"],
    ["private", "10.0.0.1"],
    ["private", "172.16.0.1"],
    ["private", "172.31.255.255"],
    ["private", "192.168.1.1"],
    ["loopback", "127.0.0.1"],
    ["loopback", "127.255.255.254"],
    ["link-local, where clouds keep credentials", "169.254.169.254"],
    ["carrier-grade NAT", "100.64.0.1"],
    ["carrier-grade NAT", "100.127.255.255"],
    ["multicast", "224.0.0.1"],
    ["multicast", "239.255.255.250"],
    ["broadcast", "255.255.255.255"],
    ["reserved", "240.0.0.1"],
    ["protocol assignments", "192.0.0.1"],
    ["documentation", "192.0.2.1"],
    ["documentation", "198.51.100.1"],
    ["documentation", "203.0.113.1"],
    ["benchmarking", "198.18.0.1"],
    ["6to4 relay", "192.88.99.1"],
    ["unspecified", "::"],
    ["loopback", "::1"],
    ["IPv4-compatible", "::7f00:1"],
    ["IPv4-mapped", "::ffff:127.0.0.1"],
    ["IPv4-mapped around a public address", "::ffff:8.8.8.8"],
    ["IPv4-translated", "::ffff:0:7f00:1"],
    ["NAT64", "64:ff9b::7f00:1"],
    ["NAT64, local", "64:ff9b:1::7f00:1"],
    ["6to4", "2002:7f00:1::"],
    ["Teredo", "2001:0:7f00:1::"],
    ["unique local", "fc00::1"],
    ["unique local", "fd12:3456::1"],
    ["link-local", "fe80::1"],
    ["link-local with a zone", "fe80::1%eth0"],
    ["site-local", "fec0::1"],
    ["multicast", "ff02::1"],
    ["documentation", "2001:db8::1"],
    ["documentation", "3fff::1"],
    ["discard", "100::1"],
    ["segment routing", "5f00::1"],
    ["not handed out", "4000::1"],
    ["no address", "localhost"],
    ["a short form", "127.1"],
    ["an octal form", "0177.0.0.1"],
  ])("%s: %s", (_kind, address) => {
    expect(guard.refusal("example.com", 80, address)).toContain(address);
  });

  it.each(["8.8.8.8", "93.184.215.14", "172.32.0.1", "100.128.0.1", "2606:4700::1111", "2a00:1450:4001::1"])(
    "public %s is not",
    (address) => {
      expect(guard.refusal("example.com", 80, address)).toBeUndefined();
    },
  );

  it.each([
    ["10.0.0.0/8", "x", 80, "10.9.9.9", true],
    ["10.0.0.0/8", "x", 80, "192.168.0.1", false],
    ["fd00::/8", "x", 80, "fd00::5", true],
    ["127.0.0.0/8", "x", 80, "::ffff:127.0.0.1", false],
    ["wiki.intra", "wiki.intra", 80, "10.0.0.1", true],
    ["wiki.intra", "WIKI.intra.", 80, "10.0.0.1", true],
    ["wiki.intra", "evil.wiki.intra", 80, "10.0.0.1", false],
    ["wiki.intra:8080", "wiki.intra", 8080, "10.0.0.1", true],
    ["wiki.intra:8080", "wiki.intra", 80, "10.0.0.1", false],
  ])("allowing %s: %s:%i at %s → %s", (entry, host, port, address, allowed) => {
    expect(createAddressGuard([entry]).refusal(host, port, address) === undefined).toBe(allowed);
  });

  it.each(["http://x", "10.0.0.0/99", "", "a b", "*.example.com"])("an allow list with %j stops the start", (entry) => {
    expect(() => createAddressGuard([entry])).toThrow(expect.objectContaining({ code: "invalid_config" }));
  });
});

describe("a fetch", () => {
  it("gets status, headers and body", async () => {
    const { url } = await serve((req, res) => res.writeHead(404, { "x-a": "1" }).end(`${req.method} ${req.url}`));
    const response = await createGuardedFetch({ allow })(`${url}/x?y=1`);
    expect(response).toMatchObject({ status: 404, url: `${url}/x?y=1`, truncated: false });
    expect(response.headers["x-a"]).toBe("1");
    expect(text(response.body)).toBe("GET /x?y=1");
  });

  it.each(["127.0.0.1", "localhost", "2130706433", "0x7f.1", "127.1", "[::1]", "[::ffff:7f00:1]"])(
    "refuses %s, and nothing arrives",
    async (host) => {
      let asked = 0;
      const { port } = await serve((_req, res) => {
        asked += 1;
        res.end();
      });
      const fetch = createGuardedFetch();
      await expect(fetch(`http://${host}:${port}/`)).rejects.toMatchObject({ code: "address_refused" });
      expect(asked).toBe(0);
    },
  );

  it.each(["file:///etc/passwd", "ftp://example.com", "data:text/plain,x", "http://a:b@example.com", "nonsense", ""])(
    "refuses %j",
    async (url) => {
      await expect(createGuardedFetch()(url)).rejects.toMatchObject({ code: "address_refused" });
    },
  );

  it("refuses a name when one of its addresses is private", async () => {
    const lookup = async () => [
      { address: "8.8.8.8", family: 4 },
      { address: "10.0.0.1", family: 4 },
    ];
    await expect(createGuardedFetch({ lookup })("http://both.example/")).rejects.toMatchObject({
      code: "address_refused",
      message: expect.stringContaining("10.0.0.1"),
    });
  });

  it("connects to the address that was checked, whatever the name answers next", async () => {
    const good = await serve((_req, res) => res.end("checked"));
    await serve((_req, res) => res.end("secret"), "127.0.0.2", good.port);
    const answers = ["127.0.0.1", "127.0.0.2", "127.0.0.2"];
    let asked = 0;
    const lookup = async () => [{ address: answers[asked++] ?? "127.0.0.2", family: 4 }];
    const fetch = createGuardedFetch({ allow, lookup });
    const { body } = await fetch(`http://rebind.example:${good.port}/`);
    expect(text(body)).toBe("checked");
    expect(asked).toBe(1);
    await expect(fetch(`http://rebind.example:${good.port}/`)).rejects.toMatchObject({ code: "address_refused" });
  });

  it("that is answered with another protocol is over at once", async () => {
    const server = await serve((req) => {
      req.socket.write("HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n\r\n");
    });
    await expect(createGuardedFetch({ allow })(server.url)).rejects.toMatchObject({
      code: "tool_failed",
      message: expect.stringContaining("closed before an answer came"),
    });
  });

  it("says what could not be reached, and why", async () => {
    const nobody = "http://127.0.0.1:1/"; // a port that nobody is given by chance
    await expect(createGuardedFetch({ allow })(nobody)).rejects.toMatchObject({
      code: "tool_failed",
      message: expect.stringContaining("ECONNREFUSED"),
    });
  });
});

describe("redirects", () => {
  const redirectTo = (location: string, status = 302) =>
    serve((req, res) => (req.url === "/" ? res.writeHead(status, { location }).end() : res.end(`at ${req.url}`)));

  it("are followed, relative ones too", async () => {
    const { url } = await redirectTo("/there");
    const response = await createGuardedFetch({ allow })(`${url}/`);
    expect(text(response.body)).toBe("at /there");
    expect(response.url).toBe(`${url}/there`);
  });

  it.each([
    "http://127.0.0.2:1/",
    "http://169.254.169.254/latest/meta-data",
    "http://[::1]/",
    "file:///etc/passwd",
    "http://u:p@127.0.0.1/",
  ])("to %s are refused", async (location) => {
    const { url } = await redirectTo(location);
    await expect(createGuardedFetch({ allow })(`${url}/`)).rejects.toMatchObject({ code: "address_refused" });
  });

  it("to a name with a private address are refused", async () => {
    const { url, port } = await redirectTo(`http://inner.example/`);
    const lookup = async () => [{ address: "10.0.0.1", family: 4 }];
    const fetch = createGuardedFetch({ allow: [`127.0.0.1:${port}`, "127.0.0.1"], lookup });
    await expect(fetch(`${url}/`)).rejects.toMatchObject({ code: "address_refused" });
  });

  it("end after five", async () => {
    let asked = 0;
    const { url } = await serve((_req, res) => {
      asked += 1;
      res.writeHead(302, { location: `/${asked}` }).end();
    });
    await expect(createGuardedFetch({ allow })(url)).rejects.toMatchObject({
      code: "tool_failed",
      message: expect.stringContaining("more than 5 times"),
    });
    expect(asked).toBe(6);
  });

  it("leave headers behind at another origin, keep them at the same", async () => {
    const seen: (string | undefined)[] = [];
    const other = await serve((req, res) => {
      seen.push(req.headers.authorization);
      res.end();
    });
    const { url } = await serve((req, res) => {
      seen.push(req.headers.authorization);
      const location = req.url === "/" ? "/same" : `${other.url}/`;
      res.writeHead(307, { location }).end();
    });
    await createGuardedFetch({ allow })(`${url}/`, { headers: { authorization: "t" } });
    expect(seen).toEqual(["t", "t", undefined]);
  });

  it("are given back where they are not to be followed", async () => {
    const { url } = await redirectTo("http://10.0.0.1/");
    expect(await createGuardedFetch({ allow })(`${url}/`, { followRedirects: false })).toMatchObject({ status: 302 });
  });
});

describe("bodies", () => {
  const bomb = (compress: (data: Buffer) => Buffer, encoding: string): RequestListener => {
    const body = compress(Buffer.alloc(20 * 1024 * 1024));
    return (_req, res) => res.writeHead(200, { "content-encoding": encoding }).end(body);
  };

  it.each([
    ["gzip", gzipSync],
    ["br", brotliCompressSync],
  ])("decoded from %s", async (encoding, compress) => {
    const { url } = await serve((_req, res) =>
      res.writeHead(200, { "content-encoding": encoding }).end(compress("hello")),
    );
    expect(text((await createGuardedFetch({ allow })(url)).body)).toBe("hello");
  });

  it.each([
    ["gzip", gzipSync],
    ["br", brotliCompressSync],
  ])("that grow out of %s past the limit are refused", async (encoding, compress) => {
    const { url } = await serve(bomb(compress, encoding));
    await expect(createGuardedFetch({ allow, maxBytes: 100_000 })(url)).rejects.toMatchObject({
      code: "content_too_large",
    });
  });

  it("that never end are cut off at the limit, and the connection is dropped", async () => {
    const { promise: dropped, resolve } = Promise.withResolvers<void>();
    const { url } = await serve((_req, res) => {
      const more = () => {
        while (res.write(Buffer.alloc(65_536, "x"))) if (res.destroyed) return;
      };
      res.on("drain", more).on("close", resolve);
      more();
    });
    const response = await createGuardedFetch({ allow })(url, { truncate: true, maxBytes: 1_000_000 });
    expect(response.truncated).toBe(true);
    expect(response.body).toHaveLength(1_000_000);
    await dropped;
  });

  it.each(["gzip, gzip", "compress", "zstd"])("encoded as %s are refused", async (encoding) => {
    const { url } = await serve((_req, res) => res.writeHead(200, { "content-encoding": encoding }).end("x"));
    await expect(createGuardedFetch({ allow })(url)).rejects.toMatchObject({
      code: "tool_failed",
      message: expect.stringContaining(encoding),
    });
  });

  it.each([
    ["broken gzip", (body: Buffer) => Buffer.concat([body.subarray(0, 10), Buffer.from("garbage")])],
    ["half of a gzip", (body: Buffer) => body.subarray(0, body.length - 9)],
  ])("%s is an error, not half a text", async (_name, damage) => {
    const body = damage(gzipSync("hello hello hello"));
    const { url } = await serve((_req, res) => res.writeHead(200, { "content-encoding": "gzip" }).end(body));
    await expect(createGuardedFetch({ allow })(url)).rejects.toMatchObject({ code: "tool_failed" });
  });

  it("that break off are an error", async () => {
    const { url } = await serve((_req, res) => {
      res.writeHead(200, { "content-length": "1000" });
      res.write("half", () => res.destroy());
    });
    await expect(createGuardedFetch({ allow })(url)).rejects.toMatchObject({ code: "tool_failed" });
  });
});

describe("time", () => {
  const slow: Record<string, RequestListener> = {
    headers: () => undefined,
    body: (_req, res) => {
      res.writeHead(200);
      res.write("first");
    },
  };

  it.each(Object.keys(slow))("runs out while waiting for %s", async (what) => {
    const { url } = await serve(slow[what] as RequestListener);
    await expect(createGuardedFetch({ allow, timeoutMs: 50 })(url)).rejects.toMatchObject({
      code: "tool_failed",
      message: expect.stringContaining("within 50 ms"),
    });
  });

  it("runs out while waiting for a name", async () => {
    const lookup = () => new Promise<never>(() => undefined);
    await expect(createGuardedFetch({ lookup, timeoutMs: 50 })("http://slow.example")).rejects.toMatchObject({
      message: expect.stringContaining("within 50 ms"),
    });
  });

  it.each(Object.keys(slow))("is not waited for after an abort (%s)", async (what) => {
    const controller = new AbortController();
    const { url } = await serve((req, res) => {
      (slow[what] as RequestListener)(req, res);
      controller.abort(new Error("enough"));
    });
    await expect(createGuardedFetch({ allow })(url, { signal: controller.signal })).rejects.toThrow("enough");
  });
});
