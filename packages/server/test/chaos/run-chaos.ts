import { mkdirSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import { openStorage, type Storage } from "@cognition/thread";
import { createDatabase } from "../../../../testing/database.ts";
import type { PostgresServer } from "../../../../testing/postgres.ts";
import { createTempDir } from "../../../../testing/temp-dir.ts";
import { randomFrom } from "../../../thread/test/crash/random.ts";
import { startBalancer } from "./balancer.ts";
import { checkChaos, type Verdict } from "./check-chaos.ts";
import { type Crowd, gatherCrowd } from "./crowd.ts";
import { makeTrouble, revive, type Trouble, type TroubleOptions } from "./disturbances.ts";
import { createFleet } from "./fleet.ts";
import { startLossyLine } from "./lossy-line.ts";
import type { Mutant } from "./mutants.ts";
import { makeNextRelease, NEXT_VERSION } from "./next-release.ts";

export interface ChaosOptions {
  postgres: PostgresServer;
  seed: number;
  /** How long there is trouble. */
  trouble_ms: number;
  nodes: number;
  customers: number;
  node_trouble: readonly Trouble[];
  database_trouble: readonly Trouble[];
  mutant?: Mutant;
  /** Nodes are hit in the middle of a tool. */
  aimed?: boolean;
  lease_ms?: number;
}

export interface Outcome extends Verdict {
  figures: Record<string, number>;
}

/** Short, so that many takeovers fit into a minute; the default's own time is measured by bench:nodes. */
const LEASE_MS = 1_500;
const POLL_MS = 100;
const NODE_PAUSE_MS = 600;
const DATABASE_PAUSE_MS = 5_000;
/** What nodes said of themselves before something was found wrong. */
const LAST_ERRORS = 40;
const SETTLES_WITHIN_MS = 240_000;

/** Nodes, a balancer and clients on one database, and trouble; then what is left is checked. */
export async function runChaos(options: ChaosOptions): Promise<Outcome> {
  const { postgres, nodes: size, mutant, lease_ms = LEASE_MS } = options;
  const database = await createDatabase(postgres.url);
  const dir = createTempDir("cognition-chaos-");
  const folder = join(dir.path, "nodes");
  mkdirSync(folder);
  const files = { ledger: join(dir.path, "ledger.jsonl"), commands: join(dir.path, "commands.txt") };
  const line = await startLossyLine(database.url);
  const shared = { uri: line.url, ledger: files.ledger, lease_ms, poll_ms: POLL_MS };
  const next = options.node_trouble.includes("upgrade") && { next: makeNextRelease(join(dir.path, "next")) };
  // Listens before the nodes' ports are looked for, so that none of them is its own.
  const balancer = await startBalancer(() => fleet.nodes.map(({ port }) => port));
  const fleet = await createFleet({ size, folder, ...shared, ...next, ...(mutant && { mutant }) });
  let storage: Storage | undefined;
  try {
    // One before the others: it makes the schema, and leaves compiled code to them.
    for (const node of fleet.nodes) await node.start();
    storage = await openStorage({ uri: database.url, pool: { min: 0, max: 4 } });
    const crowd = await gatherCrowd({ ...options, url: balancer.url, commands: files.commands });
    const made = await withTrouble(options, crowd, {
      ...{ fleet, postgres, line, lease_ms },
      aim_by: options.aimed ? files.ledger : undefined,
    });
    await settle(crowd, storage);
    const verdict = await checkChaos({ storage, customers: crowd.customers, ...files });
    verdict.complaints.push(...crowd.failures, ...fleet.deaths);
    if (verdict.complaints.length > 0 && !mutant) console.log(fleet.errors.slice(-LAST_ERRORS).join("\n"));
    const upgraded = fleet.nodes.filter(({ version }) => version === NEXT_VERSION).length;
    const figures = count(verdict, crowd, made, balancer.passedOn);
    return { ...verdict, figures: { ...figures, ...(next && { "nodes of the next release": upgraded }) } };
  } finally {
    await fleet.dispose();
    await line.close();
    await balancer.close();
    await storage?.close();
    await database.drop();
    dir.remove();
  }
}

async function withTrouble(
  options: ChaosOptions,
  crowd: Crowd,
  part: Omit<TroubleOptions, "random" | "kinds" | "pause_ms">,
): Promise<[Trouble, number][]> {
  const { seed } = options;
  const { fleet } = part;
  const makers = [
    { kinds: options.node_trouble, pause_ms: NODE_PAUSE_MS },
    { kinds: options.database_trouble, pause_ms: DATABASE_PAUSE_MS },
  ].map((maker, index) => makeTrouble({ ...part, ...maker, random: randomFrom(seed + index) }));
  await delay(options.trouble_ms);
  await Promise.all(makers.map((maker) => maker.stop()));
  crowd.end();
  await Promise.all(fleet.nodes.map((node) => revive(node)));
  return makers.flatMap(({ made }) => [...made]);
}

/** Everybody finishes what he is at, every thread takes one more message, and every reader comes to the log's end. */
async function settle(crowd: Crowd, storage: Storage): Promise<void> {
  const late = new AbortController();
  const settling = crowd.settle(async (session_id) => storage.lastEventId(session_id));
  const timer = delay(SETTLES_WITHIN_MS, "late", { signal: late.signal }).catch(() => "in time");
  if ((await Promise.race([settling, timer])) === "late") crowd.giveUp();
  late.abort();
  await settling;
}

function count(
  { runs, events, effects, complaints }: Verdict,
  crowd: Crowd,
  made: readonly [Trouble, number][],
  passed_on: number,
): Record<string, number> {
  const status = (name: string) => runs.filter((run) => run.status === name).length;
  return {
    sessions: crowd.customers.length,
    runs: runs.length,
    succeeded: status("succeeded"),
    aborted: status("aborted"),
    failed: status("failed"),
    "taken over": runs.filter(({ attempt }) => attempt > 1).length,
    events,
    "effects of tools": effects,
    reconnects: crowd.customers.reduce((sum, { reconnects }) => sum + reconnects, 0),
    "requests passed on": passed_on,
    ...Object.fromEntries(made),
    complaints: complaints.length,
  };
}
