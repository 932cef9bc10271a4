import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { mkdirSync } from "node:fs";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { fileURLToPath } from "node:url";
import { freePort } from "../../../../testing/free-port.ts";
import type { ChaosNodeInput } from "./chaos-node.ts";
import type { NextRelease } from "./next-release.ts";

const LISTENS_WITHIN_MS = 60_000;
const PROGRAM = fileURLToPath(new URL("./chaos-node.ts", import.meta.url));

export interface FleetNode {
  readonly name: string;
  readonly port: number;
  readonly running: boolean;
  /** Of the program that it runs. */
  readonly version: string | undefined;
  /** Resolves when it listens. A node that is there already stays. */
  start(as?: { next: boolean }): Promise<void>;
  /** Resolves when the process is gone. */
  end(signal: "SIGKILL" | "SIGTERM"): Promise<void>;
  pause(): void;
  goOn(): void;
}

export interface Fleet {
  readonly nodes: readonly FleetNode[];
  /** What nodes said went wrong, in the order in which they said it. */
  readonly errors: readonly string[];
  /** Processes that were serving and ended without having been told to: no run may do that to its node. */
  readonly deaths: readonly string[];
  dispose(): Promise<void>;
}

export interface FleetOptions extends Omit<ChaosNodeInput, "root" | "port" | "owner"> {
  size: number;
  /** What nodes that are started as the next release's run. */
  next?: NextRelease;
  /** Each node has a workspace root of its own in here, and all of them a cache of compiled code. */
  folder: string;
}

/** Nodes that share a database and nothing else. */
export async function createFleet({ size, folder, next, ...shared }: FleetOptions): Promise<Fleet> {
  const errors: string[] = [];
  const deaths: string[] = [];
  const nodes: FleetNode[] = [];
  const ports = new Set<number>(); // one that is free may be given twice
  while (ports.size < size) ports.add(await freePort());
  for (const [index, port] of [...ports].entries()) {
    const owner = `node-${index + 1}`;
    const root = join(folder, owner);
    mkdirSync(root, { recursive: true });
    const input = { ...shared, owner, root, port };
    const told = {
      error: (what: string) => void errors.push(`${owner}: ${what}`),
      death: (what: string) => void deaths.push(`${owner}: ${what}`),
    };
    nodes.push(createNode(input, { cache: join(folder, "cache"), next }, told));
  }
  return {
    nodes,
    errors,
    deaths,
    dispose: async () => {
      await Promise.all(nodes.map((node) => node.end("SIGKILL")));
    },
  };
}

interface Builds {
  cache: string;
  next: NextRelease | undefined;
}

interface Told {
  error(what: string): void;
  death(what: string): void;
}

function createNode(input: ChaosNodeInput, { cache, next }: Builds, told: Told): FleetNode {
  let child: ChildProcess | undefined;
  let ending = false;
  let version: string | undefined;

  function programOf(as: { next: boolean }): string {
    if (!as.next) return PROGRAM;
    if (!next) throw new Error("there is no next release to start");
    return next.program;
  }

  async function start(as = { next: false }): Promise<void> {
    if (child) return;
    const flags = [
      "--conditions=cognition-source",
      "--disable-warning=ExperimentalWarning",
      "--no-concurrent-sparkplug",
    ];
    const env = { PATH: process.env["PATH"], NODE_COMPILE_CACHE: cache };
    const mine = spawn(process.execPath, [...flags, programOf(as), JSON.stringify(input)], {
      env,
      stdio: ["ignore", "pipe", "pipe"],
    });
    child = mine;
    ending = false;
    let serving = false;
    let stderr = "";
    mine.stderr.setEncoding("utf8").on("data", (text: string) => {
      stderr += text;
    });
    const listening = Promise.withResolvers<void>();
    createInterface({ input: mine.stdout }).on("line", (line) => {
      const said = JSON.parse(line) as { url?: string; version?: string; error?: string; run_id?: string };
      if (said.url) {
        version = said.version;
        serving = true;
        listening.resolve();
      }
      if (said.error) told.error(`${said.run_id} ${said.error}`);
    });
    mine.once("close", (code, signal) => {
      if (child === mine) child = undefined;
      if (serving && !ending) told.death(`ended with ${signal ?? code}: ${stderr}`);
      listening.reject(new Error(`${input.owner} ended with ${signal ?? code} before it listened: ${stderr}`));
    });
    // One that hangs before it has served anybody is nobody's loss, and whoever supervises it would not wait either.
    const late = setTimeout(() => mine.kill("SIGKILL"), LISTENS_WITHIN_MS);
    await listening.promise.finally(() => clearTimeout(late));
  }

  return {
    name: input.owner,
    port: input.port,
    get version() {
      return version;
    },
    get running() {
      return child !== undefined;
    },
    start,
    end: async (signal) => {
      if (!child) return;
      ending = true;
      const closed = once(child, "close");
      child.kill("SIGCONT"); // a stopped process would never get to a SIGTERM
      child.kill(signal);
      await closed;
    },
    pause: () => void child?.kill("SIGSTOP"),
    goOn: () => void child?.kill("SIGCONT"),
  };
}
