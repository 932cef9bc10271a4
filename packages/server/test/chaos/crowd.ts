import type { Client } from "../../../client/src/index.ts";
import { randomFrom } from "../../../thread/test/crash/random.ts";
import type { RequestKind } from "../crash/requests.ts";
import { type Customer, createCustomer } from "./customer.ts";
import { createPatientClient } from "./patient-client.ts";

export interface CrowdOptions {
  url: string;
  commands: string;
  seed: number;
  customers: number;
}

/** Customers at work, until they are told to stop. */
export interface Crowd {
  readonly customers: readonly Customer[];
  /** What they were told that no one should be told. */
  readonly failures: readonly string[];
  /** They begin nothing new. */
  end(): void;
  /** Resolves when each has finished, was served once more, and has read its log up to `lastEventId`. */
  settle(lastEventId: (session_id: string) => Promise<number>): Promise<void>;
  /** Ends whoever still waits; each is a failure. */
  giveUp(): void;
}

const CAREFUL = "careful";
const KINDS: readonly RequestKind[] = [
  "hello",
  "charge",
  "record",
  "linger",
  "order",
  "steps",
  "slow_steps",
  "file",
  "command",
];
/** None of them asks a human, who would have to be asked before the next message. */
const QUEUED: readonly RequestKind[] = ["record", "linger", "hello"];

type Action = (customer: Customer) => Promise<unknown>;

export async function gatherCrowd(options: CrowdOptions): Promise<Crowd> {
  const client = createPatientClient(options.url);
  const customers: Customer[] = [];
  const failures: string[] = [];
  const gaveUp = Promise.withResolvers<never>();
  gaveUp.promise.catch(() => undefined); // told to each customer that still waits
  let notes = 0;
  let over = false;
  await client.createAgent({
    name: CAREFUL,
    system_prompt: "You ask before you charge.",
    interrupt_on: { charge: true },
  });

  function arrive(session_id: string): Customer {
    const newNote = () => `n${++notes}`;
    const customer = createCustomer({ client, session_id, newNote, commands: options.commands });
    customers.push(customer);
    return customer;
  }

  async function live(customer: Customer, random: () => number): Promise<void> {
    while (!over) await actionOf(random)(customer);
  }

  function actionOf(random: () => number): Action {
    const chance = random();
    if (chance < 0.1) return (customer) => customer.queue(QUEUED);
    if (chance < 0.25) return (customer) => customer.sayAndAbort("slow_steps");
    if (chance < 0.3) return fork;
    const kind = KINDS[Math.floor(random() * KINDS.length)] as RequestKind;
    return (customer) => customer.say(kind);
  }

  /** The fork is spoken to once; the thread it comes from goes on as if nothing had happened. */
  async function fork({ session_id, accepted }: Customer): Promise<void> {
    if (accepted.length === 0) return; // nothing is there to begin from
    const { id } = await client.forkSession(session_id, {});
    await arrive(id).say("charge");
  }

  async function guarded(customer: Customer, work: Promise<unknown>): Promise<void> {
    try {
      await Promise.race([work, gaveUp.promise]);
    } catch (error) {
      failures.push(`a client of ${customer.session_id}: ${describe(error)}, after ${lastSeen(customer)}`);
    }
  }

  const lives = await begin(client, options, arrive, (customer, random) => guarded(customer, live(customer, random)));
  return {
    customers,
    failures,
    end: () => {
      over = true;
    },
    settle: async (lastEventId) => {
      await Promise.all(lives);
      const finish = async (customer: Customer) => {
        await customer.say("hello");
        await customer.readUntil(await lastEventId(customer.session_id));
      };
      await Promise.all(customers.map((customer) => guarded(customer, finish(customer))));
      for (const customer of customers) customer.leave();
    },
    giveUp: () => gaveUp.reject(new Error("was not served in time: its thread is stuck")),
  };
}

async function begin(
  client: Client,
  { customers, seed }: CrowdOptions,
  arrive: (session_id: string) => Customer,
  live: (customer: Customer, random: () => number) => Promise<void>,
): Promise<Promise<void>[]> {
  const lives: Promise<void>[] = [];
  for (let n = 0; n < customers; n++) {
    const agent_name = n % 3 === 2 ? CAREFUL : "default";
    const { id } = await client.createSession({ agent_name });
    lives.push(live(arrive(id), randomFrom(seed * 1_000 + n)));
  }
  return lives;
}

/** So much of what was shown to a client tells where it stood. */
const LAST_SEEN = 12;

function lastSeen({ log }: Customer): string {
  return log
    .filter(({ event }) => event !== "token")
    .slice(-LAST_SEEN)
    .map(({ id, event, data }) => `${id} ${event}${"status" in data ? ` ${String(data.status)}` : ""}`)
    .join(", ");
}

function describe(error: unknown): string {
  const { code, message, cause } = error as { code?: string; message: string; cause?: unknown };
  return `${code ?? "error"}: ${message}${cause ? ` (${String(cause)})` : ""}`;
}
