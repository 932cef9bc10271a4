import { readFileSync } from "node:fs";
import { join } from "node:path";
import { AppError } from "@cognition/contract";
import Docker from "dockerode";
import { answerWithin } from "../../answer-within.ts";
import { type CircuitBreaker, createCircuitBreaker } from "../../breaker/circuit-breaker.ts";

/** Dockerode, with every call behind one circuit breaker and its failures told in our words. */
export interface DockerEngine {
  readonly docker: Docker;
  readonly breaker: CircuitBreaker;
  /**
   * Rejects with `sandbox_unavailable` when the engine cannot be reached or fails, `circuit_open` while it is not being
   * asked, and with an EngineRefusal when it says no (not found, conflict), which says nothing against its health.
   */
  call<T>(what: string, work: (docker: Docker) => Promise<T>, withinMs?: number): Promise<T>;
}

/** What the engine answered to a request that it understood. */
export class EngineRefusal extends Error {
  readonly status: number;
  constructor(status: number, message: string, cause: unknown) {
    super(message, { cause });
    this.status = status;
  }
}

export interface DockerEngineOptions {
  readonly host: string | undefined;
  readonly environment: Readonly<Record<string, string | undefined>>;
  readonly now: () => number;
}

const DEFAULT_HOST = "unix:///var/run/docker.sock";
/** An engine that hangs must not hang a run. Making a container took 10 ms, starting it 200 ms. */
const CALL_MS = 30_000;

export function createDockerEngine({ host, environment, now }: DockerEngineOptions): DockerEngine {
  const address = host ?? environment["DOCKER_HOST"] ?? DEFAULT_HOST;
  const docker = new Docker(connection(address, environment));
  const breaker = createCircuitBreaker({ name: "docker", now, explain });
  return {
    docker,
    breaker,
    async call(what, work, withinMs = CALL_MS) {
      const settle = breaker.acquire();
      try {
        const result = await answerWithin(withinMs, work(docker), () => {
          throw new Error(`it did not answer within ${withinMs} ms`);
        });
        settle("success");
        return result;
      } catch (error) {
        const { statusCode } = error as { statusCode?: number };
        const isRefusal = statusCode !== undefined && statusCode < 500;
        settle(isRefusal ? "ignored" : "failure");
        if (isRefusal) throw new EngineRefusal(statusCode, reasonOf(error), error);
        throw unreachable(what, address, error);
      }
    },
  };
}

function connection(host: string, environment: DockerEngineOptions["environment"]): Docker.DockerOptions {
  // Without a host of its own, docker-modem takes one from the environment of the process.
  if (host.startsWith("unix://")) return { socketPath: host.slice("unix://".length), host: "" };
  const url = URL.parse(host);
  if (!url || !["tcp:", "http:", "https:"].includes(url.protocol))
    throw new AppError(
      "invalid_config",
      `The Docker engine's address "${host}" is not one of unix://path, tcp://host:port.`,
    );
  const folder = environment["DOCKER_CERT_PATH"];
  const isSecure = url.protocol === "https:" || environment["DOCKER_TLS_VERIFY"] === "1" || url.port === "2376";
  const keys = folder && isSecure ? readKeys(folder) : {};
  const port = Number(url.port) || (isSecure ? 2376 : 2375);
  return { host: url.hostname, port, protocol: isSecure ? "https" : "http", ...keys };
}

function readKeys(folder: string): { ca: Buffer; cert: Buffer; key: Buffer } {
  const read = (name: string) => readFileSync(join(folder, `${name}.pem`));
  return { ca: read("ca"), cert: read("cert"), key: read("key") };
}

function reasonOf(error: unknown): string {
  const { json, message } = error as { json?: { message?: string }; message?: string };
  return json?.message ?? message ?? String(error);
}

function unreachable(what: string, address: string, cause: unknown): AppError {
  return new AppError(
    "sandbox_unavailable",
    `The Docker engine at ${address} could not ${what}: ${reasonOf(cause)}. Nothing was run; see that the engine runs and that this server may use it.`,
    { details: { backend: "docker" }, cause },
  );
}

function explain(failures: number, when: string): string {
  return `The Docker engine failed ${failures} times in a row and is not being asked for a while. Nothing was run; commands can be tried again ${when}.`;
}
