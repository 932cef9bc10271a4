import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { openStorage, type Storage } from "@cognition/thread";
import { createTempDir } from "../../../../testing/temp-dir.ts";
import { randomFrom } from "../../../thread/test/crash/random.ts";
import type { Engine } from "../../../thread/test/crash/scene.ts";
import { checkSession, type SessionFacts } from "./check-session.ts";
import { checkNotes } from "./check-tools.ts";
import { type EntryOf, openLedger, readLedger, readLines } from "./ledger.ts";
import { type NodeProcess, startNode } from "./node-process.ts";
import type { OrderedMessage } from "./orders.ts";
import { REQUESTS, type RequestKind } from "./requests.ts";

const HELPER = `---
name: helper
description: Does what it is told.
mode: subagent
---
You do what you are told.
`;

/** Long enough for a busy machine's heartbeats, short enough not to wait for. */
const LEASE_MS = 300;
const DRAIN_MS = 5_000;

/** One database and one workspace that nodes die on, what they leave behind, and what checks it. */
export interface Scene {
  random: () => number;
  sessions: readonly string[];
  /** A node that has loaded by the time it is needed. */
  hire(): NodeProcess;
  ask(kind: RequestKind, session_id: string): OrderedMessage;
  /** What tools have done so far. */
  effects(): readonly EntryOf<"effect">[];
  /** Lets a tool end that is held. */
  release(): void;
  /** Once nobody works any more. */
  check(): Promise<ReadonlyMap<string, SessionFacts>>;
  dispose(): Promise<void>;
}

export interface SceneOptions {
  seed: number;
  sessions: number;
  cache: string;
  lease_ms?: number;
  drain_ms?: number;
}

export async function setScene(engine: Engine, options: SceneOptions): Promise<Scene> {
  const { uri, remove, untilQuiet } = await engine.create();
  const dir = createTempDir();
  const workspace_root = join(dir.path, "workspace");
  const ledger = join(dir.path, "ledger.jsonl");
  const commands = join(dir.path, "commands.txt");
  mkdirSync(join(workspace_root, ".cognition/agents"), { recursive: true });
  writeFileSync(join(workspace_root, ".cognition/agents/helper.md"), HELPER);
  const nodes: NodeProcess[] = [];
  let notes = 0;

  async function withStorage<T>(use: (storage: Storage) => Promise<T>): Promise<T> {
    await untilQuiet();
    const storage = await openStorage({ uri, pool: { min: 0, max: 4 } });
    try {
      return await use(storage);
    } finally {
      await storage.close();
    }
  }

  const sessions = await withStorage((storage) =>
    Promise.all(Array.from({ length: options.sessions }, async () => (await storage.createSession({})).id)),
  );

  return {
    random: randomFrom(options.seed),
    sessions,
    hire: () => {
      const { lease_ms = LEASE_MS, drain_ms = DRAIN_MS, cache } = options;
      const node = startNode({ uri, ledger, workspace_root, lease_ms, drain_ms }, cache);
      nodes.push(node);
      return node;
    },
    ask: (kind, session_id) => ({
      session_id,
      message_id: crypto.randomUUID(),
      content: REQUESTS[kind](`n${++notes}`, commands),
    }),
    effects: () => readLedger(ledger, "effect"),
    release: () => openLedger(ledger).write({ t: "released" }),
    check: () =>
      withStorage(async (storage) => {
        const accepted = readLedger(ledger, "accepted");
        const effects = readLedger(ledger, "effect");
        checkNotes(effects, readLines(commands));
        const facts = new Map<string, SessionFacts>();
        for (const id of sessions) facts.set(id, await checkSession(storage, id, accepted, effects));
        return facts;
      }),
    dispose: async () => {
      for (const node of nodes) node.signal("SIGKILL");
      await Promise.all(nodes.map((node) => node.ended));
      dir.remove();
      await remove();
    },
  };
}
