import { setTimeout as delay } from "node:timers/promises";
import { Client } from "pg";
import type { PostgresServer } from "../../../../testing/postgres.ts";
import { shuffle } from "../../../thread/test/crash/random.ts";
import { readLedger } from "../crash/ledger.ts";
import type { Fleet, FleetNode } from "./fleet.ts";
import type { LossyLine } from "./lossy-line.ts";

export const NODE_TROUBLE = ["kill", "drain", "pause", "lose answers"] as const;
export const DATABASE_TROUBLE = ["cut connections", "restart database", "crash database"] as const;
export type Trouble = (typeof NODE_TROUBLE)[number] | (typeof DATABASE_TROUBLE)[number] | "upgrade";

export interface TroubleOptions {
  fleet: Fleet;
  postgres: Pick<PostgresServer, "url" | "kill" | "restart">;
  line: LossyLine;
  random: () => number;
  lease_ms: number;
  /** Made again and again, in an order of chance, each as often as the others. */
  kinds: readonly Trouble[];
  /** Between the end of one and the next. */
  pause_ms: number;
  /** Where tools leave their marks: a node is hit in the middle of one of them, rather than at any moment. */
  aim_by?: string | undefined;
}

export interface TroubleMaker {
  readonly made: ReadonlyMap<Trouble, number>;
  /** Makes each kind at least once, then stops, with everything running again. */
  stop(): Promise<void>;
}

const STARTS_WITHIN_MS = 180_000;
const ANSWERS_LOST = 8;

export function makeTrouble(options: TroubleOptions): TroubleMaker {
  const { random, kinds } = options;
  const made = new Map<Trouble, number>(kinds.map((kind) => [kind, 0]));
  let over = false;

  async function work(): Promise<void> {
    let line: Trouble[] = [];
    while (!over || [...made.values()].includes(0)) {
      if (line.length === 0) line = shuffle(kinds, random);
      const kind = line.shift() as Trouble;
      await makeOne(kind, options);
      made.set(kind, (made.get(kind) ?? 0) + 1);
      await delay(options.pause_ms * (0.5 + random()));
    }
  }

  const working = kinds.length > 0 ? work() : Promise.resolve();
  working.catch(() => undefined); // told by `stop`
  return {
    made,
    stop: async () => {
      over = true;
      await working;
    },
  };
}

async function makeOne(kind: Trouble, options: TroubleOptions): Promise<void> {
  const { fleet, postgres, line, random, lease_ms } = options;
  const aimed = options.aim_by !== undefined && (await nodeInTool(fleet, options.aim_by));
  const node = aimed || (fleet.nodes[Math.floor(random() * fleet.nodes.length)] as FleetNode);
  switch (kind) {
    case "kill":
    case "drain":
      await node.end(kind === "kill" ? "SIGKILL" : "SIGTERM");
      await delay(random() * lease_ms);
      return revive(node);
    case "upgrade":
      await node.end("SIGTERM");
      return revive(node, { next: true });
    case "pause":
      // So long that others have taken over when it wakes up, in the middle of whatever it was about to write.
      node.pause();
      await delay(lease_ms * (1.5 + random()));
      return node.goOn();
    case "lose answers":
      for (let lost = 0; lost < ANSWERS_LOST; lost++) await line.loseAnswer(lease_ms);
      return;
    case "cut connections":
      return cutConnections(postgres.url);
    case "crash database":
      await postgres.kill();
      await delay(random() * 1_000);
      return postgres.restart();
    case "restart database":
      return postgres.restart();
  }
}

const AIMS_WITHIN_MS = 5_000;

/** The node that has just begun with a tool that takes its time; nobody if none comes. */
async function nodeInTool({ nodes }: Fleet, ledger: string): Promise<FleetNode | undefined> {
  const lingering = () => readLedger(ledger, "effect").filter(({ tool }) => tool === "linger");
  const before = lingering().length;
  for (const deadline = Date.now() + AIMS_WITHIN_MS; Date.now() < deadline; await delay(5)) {
    const [effect] = lingering().slice(before);
    const node = effect && nodes.find(({ name }) => name === effect.node);
    if (node?.running) return node;
  }
  return undefined;
}

/** As whatever supervises nodes would: a node that finds no database ends, and is started again. */
export async function revive(node: FleetNode, as = { next: false }): Promise<void> {
  const deadline = Date.now() + STARTS_WITHIN_MS;
  for (;;) {
    try {
      return await node.start(as);
    } catch (error) {
      if (Date.now() > deadline) throw error;
      await delay(200);
    }
  }
}

/** All but our own; while the server itself is away there is nothing to cut. */
async function cutConnections(url: string): Promise<void> {
  const client = new Client({ connectionString: url });
  client.on("error", () => undefined); // what it was asked has been answered, or `query` says why not
  try {
    await client.connect();
    await client.query(
      "select pg_terminate_backend(pid) from pg_stat_activity where application_name like 'cognition%'",
    );
  } finally {
    await client.end().catch(() => undefined);
  }
}
