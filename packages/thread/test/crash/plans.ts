import type { KillPlan } from "./failpoint.ts";
import type { Passed } from "./orders.ts";
import { shuffle } from "./random.ts";

/** Around the statements of a transaction. Every method dies at one of them, the next method at the next one. */
const PHASES = ["begin", "commit", "sent", "committed"];

/**
 * At each statement of each method that writes, but the first of a call, where nothing is written yet (the first of a
 * second transaction is another matter: there is half a call already); at each kind of statement at least once; and at
 * one phase of each method's transactions. In a random order.
 */
export function choosePlans(passed: readonly Passed[], random: () => number): KillPlan[] {
  const needed = new Set(neededPoints(passed));
  const places = Map.groupBy(
    shuffle(passed, random).filter((place) => needed.has(nameOf(place))),
    nameOf,
  );
  const plans = [...places.values()].flatMap(([place]) => (place ? { ...place, skip: Math.floor(random() * 2) } : []));
  return shuffle(plans, random);
}

function neededPoints(passed: readonly Passed[]): string[] {
  const work = passed.filter(isOfWork);
  const statements = work.filter(({ point }) => !PHASES.includes(point));
  const inside = statements.filter(({ first }) => !first);
  const kinds = new Set(inside.map(({ point }) => point));
  const outside = statements.filter(({ point }) => !kinds.has(point) && kinds.add(point));
  const methods = [...new Set(work.map(({ method }) => method))];
  const phases = methods.map((method, index) => ({ method, point: PHASES[index % PHASES.length] as string }));
  return [...inside, ...outside, ...phases].map(nameOf);
}

/** Opening the database is no step of a writer's work; it has a test of its own. */
function isOfWork({ method }: Passed): boolean {
  return method !== "initialize";
}

function nameOf({ method, point }: { method: string; point: string }): string {
  return `${method}: ${point}`;
}

/** Points of a recording that no writer died at, though one should have. */
export function neverHit(passed: readonly Passed[], hits: readonly KillPlan[]): string[] {
  const names = new Set(hits.map(nameOf));
  return neededPoints(passed).filter((name) => !names.has(name));
}

/** One line for each point: how often writers died there, and in which methods. */
export function tableOf(passed: readonly Passed[], hits: readonly KillPlan[]): string {
  const points = [...new Set(passed.filter(isOfWork).map(({ point }) => point))].sort();
  const lines = points.map((point) => {
    const there = hits.filter((hit) => hit.point === point);
    const methods = [...new Set(there.map(({ method }) => method))].join(", ");
    return `${point.padEnd(26)} ${String(there.length).padStart(3)}  ${methods}`;
  });
  return lines.join("\n");
}
