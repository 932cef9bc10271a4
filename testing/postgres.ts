import { type ChildProcess, type SpawnOptions, spawn, spawnSync } from "node:child_process";
import { once } from "node:events";
import { chownSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import { freePort } from "./free-port.ts";
import { copyPostgres, linkLibraries, locatePostgres } from "./postgres-binaries.ts";
import { createMemoryDir, createTempDir } from "./temp-dir.ts";

export interface PostgresServer {
  /** The `postgres` database of the server, for its superuser. */
  readonly url: string;
  /** Stops the server in good order and deletes its data. Does nothing to a server that TEST_POSTGRES_URL names. */
  stop(): Promise<void>;
  /** Ends the server as a crash would (SIGKILL); `restart` brings it back. */
  kill(): Promise<void>;
  /** Stops the server in good order if it runs, and starts it on the same port and data. */
  restart(): Promise<void>;
}

export interface PostgresOptions {
  /**
   * Keeps fsync on, and starts a server of its own even when TEST_POSTGRES_URL is set: for tests that kill the server,
   * which must not be somebody else's.
   */
  readonly durable?: boolean;
}

/** How PostgreSQL, which refuses to run as root, is started: behind a command, or as another user. */
interface Account {
  readonly prefix: readonly string[];
  readonly ids: { uid?: number; gid?: number };
}

interface Installation {
  readonly account: Account;
  readonly bin: string;
  readonly folder: string;
}

const START_DEADLINE_MS = 60_000;
const STOP_DEADLINE_MS = 30_000;
const HELD = /shared memory block|Address already in use/;
const NOBODY = 65_534;
/** Connections that were closed a moment ago count until their process has ended, which a busy machine puts off. */
const ROOM = ["-c", "max_connections=300"];
const SPEED_OVER_DURABILITY = ["-c", "fsync=off", "-c", "synchronous_commit=off", "-c", "full_page_writes=off"];

/** Starts a PostgreSQL server on a free loopback port, or hands out the one that TEST_POSTGRES_URL names. */
export async function startPostgres(options: PostgresOptions = {}): Promise<PostgresServer> {
  const given = process.env["TEST_POSTGRES_URL"];
  if (given && !options.durable) return borrowServer(given);
  const dir = (options.durable ? createTempDir : createMemoryDir)("cognition-postgres-");
  try {
    const server = await startOwnServer(dir.path, options);
    const stop = async () => {
      await server.stop();
      dir.remove();
    };
    return { ...server, stop };
  } catch (cause) {
    dir.remove();
    throw new Error(
      "PostgreSQL for the tests did not start. Set TEST_POSTGRES_URL to a server where databases may be created, to use that one.",
      { cause },
    );
  }
}

function borrowServer(url: string): PostgresServer {
  const refuse = async () => {
    throw new Error("TEST_POSTGRES_URL names a server that this run did not start, so the run does not stop it.");
  };
  return { url, stop: async () => {}, kill: refuse, restart: refuse };
}

async function startOwnServer(folder: string, { durable = false }: PostgresOptions): Promise<PostgresServer> {
  const installation = install(folder);
  initialise(installation);
  const port = await freePort();
  const start = () => launch(installation, port, durable ? [] : SPEED_OVER_DURABILITY);
  let child = await start();
  return {
    url: `postgresql://postgres@127.0.0.1:${port}/postgres`,
    stop: () => end(child, "SIGINT"),
    kill: () => end(child, "SIGKILL"),
    restart: async () => {
      await end(child, "SIGINT");
      child = await retryWhileHeld(start);
    },
  };
}

function install(folder: string): Installation {
  const account = chooseAccount(folder);
  const native = locatePostgres();
  const usable = linkLibraries(native) && canRun(account, join(native, "bin"));
  return { account, bin: join(usable ? native : copyPostgres(native, folder), "bin"), folder };
}

function chooseAccount(folder: string): Account {
  if (process.getuid?.() !== 0) return { prefix: [], ids: {} };
  // In this namespace root is called nobody: files stay root's, so a checkout under a private folder works too.
  const prefix = ["unshare", "--user", `--map-user=${NOBODY}`, `--map-group=${NOBODY}`];
  if (run([...prefix, "true"]).status === 0) return { prefix, ids: {} };
  chownSync(folder, NOBODY, NOBODY);
  return { prefix: [], ids: { uid: NOBODY, gid: NOBODY } };
}

function canRun({ prefix, ids }: Account, bin: string): boolean {
  return run([...prefix, join(bin, "postgres"), "--version"], ids).status === 0;
}

function initialise({ account, bin, folder }: Installation): void {
  const flags = ["-U", "postgres", "-A", "trust", "-E", "UTF8", "--locale=C", "--no-sync"];
  const command = [...account.prefix, join(bin, "initdb"), "-D", join(folder, "data"), ...flags];
  const result = run(command, account.ids);
  if (result.status !== 0) throw new Error(`initdb failed: ${result.stderr || result.error?.message}`);
}

async function launch({ account, bin, folder }: Installation, port: number, flags: string[]): Promise<ChildProcess> {
  const listen = ["-p", `${port}`, "-c", "listen_addresses=127.0.0.1", "-c", `unix_socket_directories=${folder}`];
  const server = [join(bin, "postgres"), "-D", join(folder, "data"), ...listen, ...ROOM, ...flags];
  const [file = "", ...args] = [...account.prefix, ...stopWithParent(), ...server];
  // Detached, so that Ctrl-C in a terminal reaches the test runner alone, which then stops the server after the tests.
  const child = spawn(file, args, { ...environment(account.ids), detached: true, stdio: ["ignore", "ignore", "pipe"] });
  const killAtExit = () => child.kill("SIGKILL");
  process.once("exit", killAtExit);
  child.once("exit", () => process.off("exit", killAtExit));
  await untilReady(child);
  return child;
}

/** Where the kernel can do it, a test run that is killed takes its server along. */
function stopWithParent(): string[] {
  const command = ["setpriv", "--pdeathsig", "INT"];
  return run([...command, "true"]).status === 0 ? command : [];
}

async function untilReady(child: ChildProcess): Promise<void> {
  const ready = Promise.withResolvers<void>();
  let log = "";
  child.stderr?.setEncoding("utf8").on("data", (text: string) => {
    log = (log + text).slice(-20_000);
    if (log.includes("ready to accept connections")) ready.resolve();
  });
  child.once("error", ready.reject);
  child.once("exit", (code, signal) => ready.reject(new Error(`postgres ended with ${code ?? signal}:\n${log}`)));
  const late = () => ready.reject(new Error(`postgres was not ready after ${START_DEADLINE_MS} ms:\n${log}`));
  const timer = setTimeout(late, START_DEADLINE_MS);
  try {
    await ready.promise;
  } catch (error) {
    child.kill("SIGKILL");
    throw error;
  } finally {
    clearTimeout(timer);
  }
}

/** After SIGKILL the server's children hold its shared memory, or its port, for a moment: a new server refuses to start. */
async function retryWhileHeld(start: () => Promise<ChildProcess>): Promise<ChildProcess> {
  const deadline = Date.now() + STOP_DEADLINE_MS;
  for (;;) {
    try {
      return await start();
    } catch (error) {
      if (Date.now() > deadline || !HELD.test(String(error))) throw error;
      await delay(50);
    }
  }
}

async function end(child: ChildProcess, signal: "SIGINT" | "SIGKILL"): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return;
  const exited = once(child, "exit");
  child.kill(signal);
  const timer = setTimeout(() => child.kill("SIGKILL"), STOP_DEADLINE_MS);
  await exited;
  clearTimeout(timer);
}

function run([file = "", ...args]: string[], ids: Account["ids"] = {}) {
  return spawnSync(file, args, { ...environment(ids), encoding: "utf8" });
}

/** A fixed locale, because readiness is read from the log; "/" because a dropped user may not enter the checkout. */
function environment(ids: Account["ids"]): Pick<SpawnOptions, "uid" | "gid" | "env" | "cwd"> {
  return { ...ids, cwd: "/", env: { ...process.env, LC_ALL: "C", TZ: "UTC" } };
}
