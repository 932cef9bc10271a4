import type { Storage } from "../../../src/storage.ts";
import { createLedgerReader, type Entry } from "../ledger.ts";
import { type Book, openBook } from "./book.ts";
import {
  checkAcknowledged,
  checkCopies,
  checkEffects,
  checkJournal,
  checkKeys,
  checkMemory,
  checkStates,
  checkThread,
} from "./check-ledger.ts";
import { checkSession } from "./check-session.ts";

export interface Checker {
  /** After a crash: what is new since the last time, and some of what is older. Gives the runs that are open. */
  check(storage: Storage): Promise<Found>;
  /** Everything there is. */
  checkAll(storage: Storage): Promise<Found>;
}

interface Found {
  open: string[];
  /** The one that writers go on to talk in. */
  session?: { session_id: string; thread_id: string };
}

/** Old sessions that are looked at again after each crash. */
const SAMPLE = 2;
const PAGE = 100;

export function createChecker(ledgerPath: string, random: () => number): Checker {
  const seen = new Set<string>();
  let read = 0;
  /** Sessions with runs that have not ended; a run may be there without a line in the ledger. */
  let unfinished: string[] = [];
  const ledger = createLedgerReader(ledgerPath);

  async function run(storage: Storage, everything: boolean): Promise<Found> {
    const entries = ledger();
    const book = openBook(entries);
    const fresh = everything ? entries : entries.slice(read);
    read = entries.length;
    const listed = await listSessions(storage, everything ? new Set() : seen);
    const old = [...seen];
    const sample = Array.from({ length: old.length === 0 ? 0 : SAMPLE }, () => old[Math.floor(random() * old.length)]);
    const wanted = new Set([...listed, ...mentioned(fresh, book), ...unfinished, ...sample.flatMap((id) => id ?? [])]);
    const found = await Promise.all([...wanted].map(async (id) => ({ id, open: await checkOne(storage, book, id) })));
    unfinished = found.filter(({ open }) => open.length > 0).map(({ id }) => id);
    const open = found.flatMap((one) => one.open);
    for (const id of wanted) seen.add(id);
    checkEffects(book);
    const copied = fresh.filter((entry) => entry.t === "copied");
    await checkCopies(storage, everything ? copied : copied.slice(0, 4));
    await checkMemory(storage, fresh);
    await checkKeys(storage, fresh, book);
    await checkStates(storage, fresh);
    const [session] = book.all("session");
    return { open, ...(session && { session }) };
  }

  return { check: (storage) => run(storage, false), checkAll: (storage) => run(storage, true) };
}

async function checkOne(storage: Storage, book: Book, session_id: string): Promise<string[]> {
  const facts = await checkSession(storage, book, session_id);
  if (!facts) return [];
  const entries = book.ofSession(session_id);
  await checkAcknowledged({ storage, facts }, entries);
  checkThread(book, book.ofThread(facts.thread_id), facts.checkpoints);
  for (const { run_id } of entries.filter((entry) => entry.t === "run")) {
    await checkJournal(storage, run_id, book.ofRun(run_id));
  }
  return facts.openRuns;
}

/** Those that no check has seen; a session may be there without a line in the ledger. */
async function listSessions(storage: Storage, seen: ReadonlySet<string>): Promise<string[]> {
  const found: string[] = [];
  for (let offset = 0; ; offset += PAGE) {
    const page = await storage.listSessions({ limit: PAGE, offset });
    const fresh = page.filter(({ id }) => !seen.has(id)).map(({ id }) => id);
    found.push(...fresh);
    if (page.length < PAGE || fresh.length === 0) return found;
  }
}

function mentioned(entries: readonly Entry[], book: Book): string[] {
  const threads = new Set(entries.flatMap((entry) => ("thread_id" in entry ? entry.thread_id : [])));
  const ofThreads = book.all("session").filter(({ thread_id }) => threads.has(thread_id));
  return [...entries, ...ofThreads].flatMap((entry) => ("session_id" in entry ? entry.session_id : []));
}
