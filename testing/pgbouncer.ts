import { spawn, spawnSync } from "node:child_process";
import { once } from "node:events";
import { chmodSync, writeFileSync } from "node:fs";
import { connect } from "node:net";
import { join } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import { type Program, unpackedProgram, withLibraries } from "./debian-packages.ts";
import { freePort } from "./free-port.ts";
import { createTempDir } from "./temp-dir.ts";

export interface Pooler {
  /** The same database, through the pooler. */
  readonly url: string;
  stop(): Promise<void>;
}

const START_DEADLINE_MS = 60_000;

/**
 * Starts PgBouncer before a database, on a free loopback port. Gives the reason instead where there is none and none can be
 * had; in CI that is an error.
 */
export async function startPgBouncer(
  databaseUrl: string,
  mode: "session" | "transaction",
): Promise<Pooler | { readonly missing: string }> {
  const found = locate();
  if ("missing" in found) {
    if (process.env["CI"]) throw new Error(`PgBouncer for the tests is missing: ${found.missing}`);
    return found;
  }
  const dir = createTempDir("cognition-pgbouncer-");
  const port = await freePort();
  const config = join(dir.path, "pgbouncer.ini");
  writeFileSync(config, configFor(databaseUrl, mode, port));
  // It refuses to be root's.
  chmodSync(dir.path, 0o755);
  const account = process.getuid?.() === 0 ? ["-u", "nobody"] : [];
  const child = spawn(found.file, [...account, config], { env: { ...process.env, ...found.env }, stdio: "ignore" });
  const killAtExit = () => child.kill("SIGKILL");
  process.once("exit", killAtExit);
  const exited = once(child, "exit");
  await Promise.race([untilListening(port), exited.then(([code]) => Promise.reject(new Error(`it ended: ${code}`)))]);
  return {
    url: Object.assign(new URL(databaseUrl), { host: `127.0.0.1:${port}` }).href,
    stop: async () => {
      process.off("exit", killAtExit);
      child.kill("SIGTERM");
      await exited;
      dir.remove();
    },
  };
}

function locate(): Program | { readonly missing: string } {
  if (spawnSync("pgbouncer", ["--version"]).status === 0) return { file: "pgbouncer", env: {} };
  return unpackedProgram("pgbouncer", withLibraries("pgbouncer"), "usr/sbin/pgbouncer");
}

function configFor(databaseUrl: string, mode: string, port: number): string {
  const { hostname, port: serverPort, username, password } = new URL(databaseUrl);
  const secret = password ? ` password='${decodeURIComponent(password)}'` : "";
  return `[databases]
* = host=${hostname} port=${serverPort || 5432} user='${decodeURIComponent(username)}'${secret}
[pgbouncer]
listen_addr = 127.0.0.1
listen_port = ${port}
unix_socket_dir =
auth_type = any
pool_mode = ${mode}
default_pool_size = 20
`;
}

async function untilListening(port: number): Promise<void> {
  const deadline = performance.now() + START_DEADLINE_MS;
  for (;;) {
    const socket = connect(port, "127.0.0.1");
    const listens = await once(socket, "connect").then(
      () => true,
      () => false,
    );
    socket.destroy();
    if (listens) return;
    if (performance.now() > deadline) throw new Error(`PgBouncer did not listen within ${START_DEADLINE_MS} ms`);
    await delay(20);
  }
}
