import { once } from "node:events";
import { createInterface } from "node:readline";
import { setTimeout as delay } from "node:timers/promises";
import { isAppError, isRunOutcome } from "@cognition/contract";
import { openStorage, type Storage } from "@cognition/thread";
import { compose, type Runtime } from "../../src/compose.ts";
import type { Submission } from "../../src/run/run-engine.ts";
import { createCrashTools } from "./crash-tools.ts";
import { createKillPoints } from "./kill-point.ts";
import { type Ledger, openLedger } from "./ledger.ts";
import type { NodeInput, Order, Said } from "./orders.ts";

/** A node that works on whatever runs there are, and is killed while it does. */
const POLL_MS = 50;
const input = JSON.parse(process.argv[2] ?? "null") as NodeInput;
say({ ready: true });
const [line] = (await once(createInterface({ input: process.stdin }), "line")) as [string];
const order = JSON.parse(line) as Order;
const ledger = openLedger(input.ledger);
const points = createKillPoints(order.plan);
const storage = await points.watch(
  await openStorage({ uri: input.uri, pool: { min: 0, max: 6 }, failpoint: points.failpoint }),
);
const runtime = await compose({
  storage,
  workspace_root: input.workspace_root,
  env: { PATH: process.env["PATH"] },
  tools: createCrashTools(ledger, points),
  engine: { owner: `node ${process.pid}`, lease_ms: input.lease_ms, poll_ms: POLL_MS },
  onError: (error, run_id) => say({ error: String(error), code: isAppError(error) ? error.code : undefined, run_id }),
});
let isLeaving = false;
runtime.engine.start();
const working = work();
process.once("SIGTERM", () => {
  void leave();
  say({ leaving: true });
});
await working;

async function work(): Promise<void> {
  say({ accepted: await submitAll(runtime, ledger, order) });
  await untilIdle(runtime, storage, order.sessions);
  if (!isLeaving) say({ idle: true });
}

async function leave(): Promise<void> {
  isLeaving = true;
  await runtime.close(input.drain_ms);
  await working; // it reads from the storage
  await storage.close();
  process.exit(0);
}

async function submitAll({ engine }: Runtime, told: Ledger, { messages }: Order): Promise<string[]> {
  return Promise.all(
    messages.map(async ({ session_id, message_id, content }) => {
      const { run } = await submit(engine, {
        session_id,
        message: { id: message_id, role: "user", content },
        input: { kind: "message", message_id, content },
        idempotency: { key: message_id, body_hash: message_id },
      });
      told.write({ t: "accepted", session_id, run_id: run.id, message_id, content });
      return run.id;
    }),
  );
}

/** A session that waits for a human, since the node that asked has died, takes the message once it has its answer. */
async function submit(engine: Runtime["engine"], submission: Submission): ReturnType<Runtime["engine"]["submit"]> {
  for (;;) {
    try {
      return await engine.submit(submission);
    } catch (error) {
      if (!isAppError(error, "waiting_for_approval")) throw error;
      const { session_id } = submission;
      await answer(engine, storage, { id: error.details["run_id"] as string, session_id });
    }
  }
}

async function untilIdle({ engine }: Runtime, from: Storage, sessions: readonly string[]): Promise<void> {
  while (!isLeaving) {
    const runs = (await Promise.all(sessions.map((id) => from.listRuns(id, { limit: 200 })))).flat();
    const open = runs.filter(({ status }) => !isRunOutcome(status));
    for (const run of open) if (run.status === "waiting_for_approval") await answer(engine, from, run);
    if (open.length === 0) return;
    await delay(POLL_MS);
  }
}

/** A human who looks, and tells what became of the call. */
async function answer(
  engine: Runtime["engine"],
  from: Storage,
  run: { id: string; session_id: string },
): Promise<void> {
  const { events } = await from.readEvents({ session_id: run.session_id, run_id: run.id, types: ["interrupt"] });
  const { interrupts = [] } = (events.at(-1)?.data ?? {}) as { interrupts?: { id: string }[] };
  const answers = interrupts.map(({ id }) => [id, { id, type: "respond", message: "outcome_unknown: I looked" }]);
  await engine.answer(run.id, { kind: "answers", answers: Object.fromEntries(answers) }).catch((error) => {
    if (!isAppError(error, "already_answered")) throw error; // two messages of one session have found it waiting
  });
}

function say(said: Said): void {
  process.stdout.write(`${JSON.stringify(said)}\n`);
}
