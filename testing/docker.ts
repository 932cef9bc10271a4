import { existsSync } from "node:fs";
import { request } from "node:http";
import { join } from "node:path";
import { unpackPackages } from "./debian-packages.ts";
import { type EngineAddress, importBusybox } from "./docker-image.ts";
import { startPrivateEngine } from "./private-docker.ts";

export interface DockerEngine {
  /** As DOCKER_HOST would name it. */
  readonly host: string;
  /** A small image with a shell, made for the tests. */
  readonly image: string;
  stop(): Promise<void>;
}

const IMAGE = "cognition-sandbox:test";
const PACKAGES = ["docker.io", "containerd", "runc", "tini", "busybox-static"];
const PING_MS = 2_000;

/**
 * A real Docker engine for the tests: the one that DOCKER_HOST names or that listens where engines do, else, for root on
 * Linux, a private one that ends with this process. Where none can be had the suites are skipped with the reason; with
 * CI set that is a failure, or a test run could pass with the isolation untested.
 */
export async function startDocker(): Promise<DockerEngine | { readonly missing: string }> {
  const found = await findOrStart();
  if (!("missing" in found)) return found;
  if (process.env["CI"]) throw new Error(`The tests of the docker sandbox cannot run: ${found.missing}`);
  console.warn(`SKIPPED: the docker sandbox is not tested here: ${found.missing}`);
  return found;
}

async function findOrStart(): Promise<DockerEngine | { readonly missing: string }> {
  const running = await findRunning();
  const isRoot = process.platform === "linux" && process.getuid?.() === 0;
  if (!running && !isRoot)
    return { missing: "no engine answers, and only root on Linux can start one; start Docker or set DOCKER_HOST." };
  const packages = unpackPackages("docker", PACKAGES);
  if ("missing" in packages) return packages;
  const engine = running ?? (await startPrivateEngine(packages.folder, ping));
  await importBusybox(addressOf(engine.host), join(packages.folder, "bin", "busybox"), IMAGE);
  return { ...engine, image: IMAGE };
}

async function findRunning(): Promise<Pick<DockerEngine, "host" | "stop"> | undefined> {
  const given = process.env["DOCKER_HOST"];
  const hosts = given ? [given] : existsSync("/var/run/docker.sock") ? ["unix:///var/run/docker.sock"] : [];
  for (const host of hosts) if (await ping(host)) return { host, stop: async () => {} };
  return undefined;
}

function addressOf(host: string): EngineAddress {
  if (host.startsWith("unix://")) return { socketPath: host.slice("unix://".length) };
  const { hostname, port } = new URL(host.replace(/^tcp:/, "http:"));
  return { host: hostname, port: Number(port) || 2375 };
}

function ping(host: string): Promise<boolean> {
  return new Promise((resolve) => {
    const sent = request({ ...addressOf(host), path: "/_ping", timeout: PING_MS }, (response) => {
      response.resume();
      resolve(response.statusCode === 200);
    });
    sent.once("timeout", () => sent.destroy());
    // Nobody listens there: the caller tries elsewhere, or again.
    sent.once("error", () => resolve(false));
    sent.end();
  });
}
