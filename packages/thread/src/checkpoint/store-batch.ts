import { setImmediate as nextTurn } from "node:timers/promises";
import type { Database } from "../sql/database.ts";
import { scopeText } from "../sql/scope.ts";
import { all, type QueryResult, type Statement, type Tx } from "../sql/statement.ts";
import type { ItemRow } from "./store-item.ts";
import { refreshItem } from "./store-statements.ts";

const EMPTY = scopeText({});

interface StepResult {
  value: unknown;
  /** Rows that were read and whose time is to start anew. */
  refresh?: ItemRow[];
}

interface Address {
  namespace: string;
  key: string;
}

/** One operation: a single statement, which can travel with its neighbours, or a body that needs several. */
export type Step = (
  | { statement: Statement; result: (rows: ItemRow[]) => StepResult }
  | { body: () => Tx<StepResult> }
) & {
  /** The item that it changes. */
  writes?: Address;
};

/** The results in the order of the steps. With a write among them it is one transaction, otherwise it takes no lock. */
export async function runBatch(db: Database, scope: string, steps: readonly Step[]): Promise<unknown[]> {
  const writes = steps.some((step) => step.writes);
  if (writes) {
    const order = inOneOrder(steps);
    return db.transaction(function* () {
      const results = yield* runSteps(order.map((place) => steps[place] as Step));
      yield* all(refreshes(db, scope, results));
      return values(inPlace(order, results));
    });
  }
  // Where nothing is divided into scopes there is nothing to keep apart, and agents read their memory often.
  const results = await readSteps(db, scope === EMPTY ? undefined : scope, () => runSteps(steps));
  const refresh = refreshes(db, scope, results);
  if (refresh.length > 0) await db.atomic(refresh);
  return values(results);
}

/**
 * The places of the steps, those that write one after the other in the order of their items: two batches that write the same
 * items would wait for each other in a circle. Only what writes the same item must come in the order it was given.
 */
function inOneOrder(steps: readonly Step[]): number[] {
  const order: number[] = [];
  let writing: number[] = [];
  const itemOf = (place: number) => steps[place]?.writes as Address;
  const flush = () => {
    order.push(...writing.sort((a, b) => byAddress(itemOf(a), itemOf(b))));
    writing = [];
  };
  for (const [place, { writes }] of steps.entries()) {
    if (!writes) flush();
    (writes ? writing : order).push(place);
  }
  flush();
  return order;
}

function inPlace<T>(order: readonly number[], results: readonly T[]): T[] {
  const placed = new Map(order.map((place, i) => [place, results[i] as T]));
  return order.map((_, place) => placed.get(place) as T);
}

function* runSteps(steps: readonly Step[]): Tx<StepResult[]> {
  const results: StepResult[] = [];
  let next = 0;
  while (next < steps.length) {
    const step = steps[next] as Step;
    if ("body" in step) {
      results.push(yield* step.body());
      next += 1;
    } else {
      const flight = leadingStatements(steps.slice(next));
      const answers = yield* all(flight.map(({ statement }) => statement));
      for (const [index, { result }] of flight.entries())
        results.push(result(answers[index]?.rows as unknown as ItemRow[]));
      next += flight.length;
    }
  }
  return results;
}

function leadingStatements(steps: readonly Step[]): Extract<Step, { statement: Statement }>[] {
  const end = steps.findIndex((step) => "body" in step);
  return (end === -1 ? steps : steps.slice(0, end)) as Extract<Step, { statement: Statement }>[];
}

async function readSteps<T>(db: Database, scope: string | undefined, body: () => Tx<T>): Promise<T> {
  const steps = body();
  let step = steps.next();
  while (!step.done) {
    const answers: readonly QueryResult[] = await db.readAll(step.value, scope);
    step = steps.next(answers);
    // A database in this process answers at once: without this a long search would keep everybody else waiting.
    if (!step.done && !db.isElsewhere) await nextTurn();
  }
  return step.value;
}

/** In one order for every reader: two that refresh the same items never wait for each other in a circle. */
function refreshes({ dialect }: Database, scope: string, results: readonly StepResult[]): Statement[] {
  const rows = results.flatMap(({ refresh = [] }) => refresh).filter(({ ttl_ms }) => ttl_ms !== null);
  const ordered = rows.map(({ namespace, key }) => ({ scope, namespace, key })).sort(byAddress);
  return ordered.map((address) => refreshItem(dialect, address));
}

function byAddress(a: Address, b: Address): number {
  if (a.namespace !== b.namespace) return a.namespace < b.namespace ? -1 : 1;
  return a.key < b.key ? -1 : Number(a.key > b.key);
}

function values(results: readonly StepResult[]): unknown[] {
  return results.map(({ value }) => value);
}
