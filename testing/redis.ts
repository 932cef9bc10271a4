import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { setTimeout as delay } from "node:timers/promises";
import { freePort } from "./free-port.ts";
import { locateRedis } from "./redis-binary.ts";

export interface RedisServer {
  readonly url: string;
  stop(): Promise<void>;
}

const START_DEADLINE_MS = 60_000;

/**
 * Starts a Redis server that keeps nothing on disk, on a free loopback port; or hands out the one that TEST_REDIS_URL
 * names. Gives the reason instead where there is none and none can be had; in CI that is an error.
 */
export async function startRedis(): Promise<RedisServer | { readonly missing: string }> {
  const given = process.env["TEST_REDIS_URL"];
  if (given) return { url: given, stop: async () => {} };
  const found = locateRedis();
  if ("missing" in found) {
    if (process.env["CI"]) throw new Error(`Redis for the tests is missing: ${found.missing}`);
    return found;
  }
  const port = await freePort();
  const args = ["--port", `${port}`, "--bind", "127.0.0.1", "--save", "", "--appendonly", "no", "--dir", "/tmp"];
  const child = spawn(found.file, args, { env: { ...process.env, ...found.env }, stdio: ["ignore", "pipe", "pipe"] });
  const killAtExit = () => child.kill("SIGKILL");
  process.once("exit", killAtExit);
  await untilReady(child);
  return {
    url: `redis://127.0.0.1:${port}`,
    stop: async () => {
      process.off("exit", killAtExit);
      if (child.exitCode !== null) return;
      const exited = once(child, "exit");
      child.kill("SIGTERM");
      await exited;
    },
  };
}

async function untilReady(child: ChildProcess): Promise<void> {
  let log = "";
  const ready = Promise.withResolvers<void>();
  const listen = (text: string) => {
    log += text;
    if (log.includes("Ready to accept connections")) ready.resolve();
  };
  child.stdout?.setEncoding("utf8").on("data", listen);
  child.stderr?.setEncoding("utf8").on("data", listen);
  child.once("error", ready.reject);
  child.once("exit", (code) => ready.reject(new Error(`redis-server ended with ${code}:\n${log}`)));
  const late = delay(START_DEADLINE_MS, undefined, { ref: false }).then(() => {
    throw new Error(`redis-server was not ready after ${START_DEADLINE_MS} ms:\n${log}`);
  });
  try {
    await Promise.race([ready.promise, late]);
  } catch (error) {
    child.kill("SIGKILL");
    throw error;
  }
}
