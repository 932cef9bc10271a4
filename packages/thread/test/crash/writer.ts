import { once } from "node:events";
import { createInterface } from "node:readline";
import { setTimeout as delay, setImmediate as nextTurn } from "node:timers/promises";
import { isAppError } from "@cognition/contract";
import { openStorage } from "../../src/open-storage.ts";
import { uuidv7 } from "../../src/sql/context.ts";
import { createFailpoints, type Failpoints } from "./failpoint.ts";
import { openLedger } from "./ledger.ts";
import { observe } from "./observed-storage.ts";
import type { Order, Passed, Said, WriterInput } from "./orders.ts";
import { randomFrom } from "./random.ts";
import { recordWrites } from "./work/record-writes.ts";
import { recover } from "./work/run-work.ts";
import { steps } from "./work/steps.ts";
import type { Work } from "./work/work.ts";

/** A process that writes everything there is to write, and is killed while it does. */
const input = JSON.parse(process.argv[2] ?? "null") as WriterInput;
const points = createFailpoints();
say("ready");
const [line] = (await once(createInterface({ input: process.stdin }), "line")) as [string];
const order = JSON.parse(line) as Order;
if (order.plan?.method === "initialize") points.arm(order.plan);
const work = await open();
// One after the other: two of one session would take the thread from each other.
for (const run_id of order.open) await recover(work, run_id);
work.ledger.write({ t: "recovered" });
if (order.record) await record(work, points);
else {
  points.arm(order.plan);
  const random = randomFrom(order.seed);
  await Promise.all(Array.from({ length: order.lanes }, (_, lane) => runLane(work, lane, random)));
  say({ finished: true });
}
await work.storage.close();
process.exit();

async function open(): Promise<Work> {
  const storage = await openStorage({ uri: input.uri, pool: { min: 0, max: 6 }, failpoint: points.failpoint });
  const ledger = openLedger(input.ledger);
  const observed = await observe(storage);
  recordWrites(observed.saver, ledger);
  let count = 0;
  return {
    ...observed,
    ledger,
    lease_ms: order.lease_ms,
    session: order.session,
    next: () => ++count,
    newId: uuidv7,
  };
}

/** The first lane keeps to the step in which the writer is to die; the others make sure that it is not alone there. */
async function runLane(work: Work, lane: number, random: () => number): Promise<void> {
  const names = Object.keys(steps);
  const own = { ...work, session: lane === 0 ? work.session : undefined };
  for (let round = 0; round < (order.rounds ?? Number.POSITIVE_INFINITY); round++) {
    const name = (lane === 0 && order.plan?.step) || (names[Math.floor(random() * names.length)] as string);
    try {
      await steps[name]?.(own);
      work.ledger.write({ t: "step", name });
    } catch (error) {
      if (!isAppError(error) || !order.tolerate?.includes(error.code)) throw new Error(name, { cause: error });
      await delay(20);
    }
  }
}

async function record(work: Work, { watch }: Failpoints): Promise<void> {
  const passed = new Map<string, Passed>();
  let step = "";
  watch((method, point, isFirst) => {
    const name = `${step} ${method} ${point}`;
    const first = isFirst && (passed.get(name)?.first ?? true);
    passed.set(name, { step, method, point, first });
  });
  for (step of Object.keys(steps)) {
    await steps[step]?.(work);
    await nextTurn(); // what the step's last commit is still to pass belongs to it
  }
  say({ passed: [...passed.values()], methods: work.methods });
}

function say(said: Said): void {
  process.stdout.write(`${JSON.stringify(said)}\n`);
}
