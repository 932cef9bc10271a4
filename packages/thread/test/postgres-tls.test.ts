import { writeFileSync } from "node:fs";
import { type AddressInfo, connect, createServer, type Socket } from "node:net";
import { join } from "node:path";
import { TLSSocket } from "node:tls";
import { expect, inject, it, onTestFinished } from "vitest";
import { selfSigned } from "../../../testing/self-signed.ts";
import { createTempDir } from "../../../testing/temp-dir.ts";
import { openStorage } from "../src/open-storage.ts";
import { createMigratedDatabase } from "./migrated-database.ts";

const { key, cert } = selfSigned("localhost");
const SSL_REQUEST = 80_877_103;

/** In front of the server, which takes no TLS itself: encrypted up to here, and refused where it is not. */
async function startTlsProxy(url: string): Promise<string> {
  const target = new URL(url);
  const [host, port] = [target.hostname, Number(target.port)];
  const sockets = new Set<Socket>();
  const proxy = createServer((client) => {
    const keep = (socket: Socket) => {
      sockets.add(socket);
      socket.on("error", () => client.destroy()); // a client that does not trust us says so and goes
    };
    keep(client);
    client.once("data", (first) => {
      if (first.readInt32BE(4) !== SSL_REQUEST) {
        client.destroy();
        return;
      }
      client.write("S");
      const secure = new TLSSocket(client, { isServer: true, key, cert });
      const server = connect(port, host);
      for (const socket of [secure, server]) keep(socket);
      secure.pipe(server).pipe(secure);
    });
  });
  await new Promise<void>((resolve) => proxy.listen(0, "localhost", resolve));
  onTestFinished(async () => {
    for (const socket of sockets) socket.destroy();
    await new Promise((resolve) => proxy.close(resolve));
  });
  target.hostname = "localhost";
  target.port = String((proxy.address() as AddressInfo).port);
  return target.href;
}

async function databaseBehindTls(): Promise<{ url: string; authority: string }> {
  const database = await createMigratedDatabase();
  onTestFinished(database.drop);
  const dir = createTempDir();
  onTestFinished(dir.remove);
  const authority = join(dir.path, "authority.pem");
  writeFileSync(authority, cert);
  return { url: await startTlsProxy(database.url), authority };
}

async function opens(uri: string): Promise<void> {
  const storage = await openStorage({ uri, pool: { min: 0, max: 2 } });
  expect(await storage.healthCheck()).toMatchObject({ ok: true });
  await storage.close();
}

it("a server whose authority is named is let in, by each word for encryption", async () => {
  const { url, authority } = await databaseBehindTls();
  await opens(`${url}?sslrootcert=${authority}`);
  for (const mode of ["require", "verify-ca", "verify-full"])
    await opens(`${url}?sslmode=${mode}&sslrootcert=${authority}`);
  await opens(`${url}?sslmode=no-verify`);
});

it("one whose authority nobody knows is not, whatever the word, and the way out is told", async () => {
  const { url } = await databaseBehindTls();
  for (const mode of ["prefer", "require", "verify-full"]) {
    await expect(opens(`${url}?sslmode=${mode}`)).rejects.toMatchObject({
      code: "storage_unavailable",
      message: expect.stringMatching(/sslrootcert=.*sslmode=no-verify.*SELF_SIGNED/),
    });
  }
});

it("nor one whose certificate is for another name", async () => {
  const { url, authority } = await databaseBehindTls();
  const otherName = url.replace("localhost", "127.0.0.1");
  await expect(opens(`${otherName}?sslmode=require&sslrootcert=${authority}`)).rejects.toMatchObject({
    code: "storage_unavailable",
    message: expect.stringContaining("for another name"),
  });
});

it("a server that takes no encrypted connections is not talked to in the clear", async () => {
  for (const mode of ["prefer", "require"]) {
    await expect(opens(`${inject("postgresUrl")}?sslmode=${mode}`)).rejects.toMatchObject({
      code: "storage_unavailable",
      message: expect.stringContaining("takes no encrypted connections"),
    });
  }
});
