import { isDeepStrictEqual } from "node:util";
import { isRunOutcome, type Run, type StoredEvent } from "@cognition/contract";
import type { Storage } from "@cognition/thread";
import type { LogEvent } from "../../../client/src/index.ts";
import { checkSession } from "../crash/check-session.ts";
import { checkNotes } from "../crash/check-tools.ts";
import { readLedger, readLines } from "../crash/ledger.ts";
import type { Customer } from "./customer.ts";

export interface Evidence {
  storage: Storage;
  customers: readonly Customer[];
  ledger: string;
  commands: string;
}

export interface Verdict {
  /** What is not as promised, one sentence each. */
  complaints: string[];
  runs: Run[];
  events: number;
  effects: number;
}

/** Ends of a run that say nothing against the server: it was cut off too often, which it promises to give up on. */
const FAIR_FAILURES: readonly (string | undefined)[] = ["too_many_attempts"];

/** Holds what is stored, what tools did and what every client saw against each other. */
export async function checkChaos({ storage, customers, ledger, commands }: Evidence): Promise<Verdict> {
  const effects = readLedger(ledger, "effect");
  const verdict: Verdict = { complaints: [], runs: [], events: 0, effects: effects.length };
  const complaint = async (check: () => void | Promise<void>) => {
    try {
      await check();
    } catch (error) {
      verdict.complaints.push((error as Error).message);
    }
  };
  await complaint(() => checkNotes(effects, readLines(commands)));
  for (const customer of customers) {
    await complaint(async () => {
      const facts = await checkSession(storage, customer.session_id, [], effects);
      verdict.runs.push(...facts.runs);
      verdict.events += facts.events.length;
      verdict.complaints.push(
        ...openRuns(facts.runs),
        ...lostMessages(customer, facts.runs, await storage.listMessagesForSession(customer.session_id)),
        ...wrongOrder(customer, facts.events),
        ...wrongViews(customer, facts.events),
        ...(await splitThread(storage, customer.session_id)),
      );
    });
  }
  return verdict;
}

function openRuns(runs: readonly Run[]): string[] {
  return runs.flatMap(({ id, status, error }) => {
    if (!isRunOutcome(status)) return [`run ${id} is still ${status}`];
    if (status !== "failed" || FAIR_FAILURES.includes(error?.code)) return [];
    return [`run ${id} failed for a reason of the server's: ${error?.code} ${error?.message}`];
  });
}

function lostMessages(
  { accepted }: Customer,
  runs: readonly Run[],
  messages: readonly { run_id?: string | null; role: string; content: unknown }[],
): string[] {
  const known = new Set(runs.map(({ id }) => id));
  const said = new Map(messages.flatMap(({ run_id, role, content }) => (role === "user" ? [[run_id, content]] : [])));
  return accepted.flatMap(({ run_id, content }) => {
    if (!known.has(run_id)) return [`run ${run_id} was accepted, and is lost`];
    return said.get(run_id) === content ? [] : [`the message of run ${run_id} was accepted, and is lost`];
  });
}

/** Those that were aborted may have ended while they waited; the others ran one after the other, as they came. */
function wrongOrder({ session_id, accepted }: Customer, events: readonly StoredEvent[]): string[] {
  const came = accepted.map(({ run_id }) => run_id);
  const ran = events.flatMap(({ event, data, run_id }) =>
    event === "done" && data.status !== "aborted" && run_id ? [run_id] : [],
  );
  const expected = came.filter((run_id) => ran.includes(run_id));
  const actual = ran.filter((run_id) => came.includes(run_id));
  return isDeepStrictEqual(actual, expected) ? [] : [`the runs of ${session_id} were not in the order they came in`];
}

/** Nobody goes back in these sessions, so that a step with two successors had two writers at once. */
async function splitThread(storage: Storage, session_id: string): Promise<string[]> {
  const session = await storage.getSession(session_id);
  const saver = await storage.getCheckpointer();
  const successors = new Map<string | undefined, number>();
  const config = { configurable: { thread_id: session?.thread_id, checkpoint_ns: "" } };
  for await (const { parentConfig } of saver.list(config)) {
    const parent = parentConfig?.configurable?.["checkpoint_id"] as string | undefined;
    successors.set(parent, (successors.get(parent) ?? 0) + 1);
  }
  const split = [...successors].filter(([, count]) => count > 1);
  return split.map(([parent, count]) => `${count} steps of ${session_id} follow ${parent}: two nodes wrote at once`);
}

/** All connections joined, a client has seen the log itself: every event, once, in order, with what it says. */
function wrongViews({ session_id, log, streams }: Customer, events: readonly StoredEvent[]): string[] {
  const stored = events.map(asSeen);
  const complaints = differences(`the log of ${session_id}`, log, stored);
  for (const seen of streams) {
    const [first, last] = [seen[0]?.id ?? 0, seen.at(-1)?.id ?? 0];
    const run_id = (seen[0]?.data as { run_id?: string } | undefined)?.run_id;
    const own = events.filter((event) => event.run_id === run_id && event.id >= first && event.id <= last);
    complaints.push(...differences(`a stream of run ${run_id}`, seen, own.map(asSeen)));
  }
  return complaints;
}

function differences(what: string, seen: readonly LogEvent[], stored: readonly LogEvent[]): string[] {
  const at = stored.findIndex((event, index) => !isDeepStrictEqual(seen[index], event));
  if (at < 0 && seen.length === stored.length) return [];
  const place = at < 0 ? stored.length : at;
  return [
    `${what}: a client saw ${JSON.stringify(seen[place])?.slice(0, 200)} where ${JSON.stringify(stored[place])?.slice(0, 200)} is stored`,
  ];
}

function asSeen({ id, event, data }: StoredEvent): LogEvent {
  return { id, event, data } as LogEvent;
}
