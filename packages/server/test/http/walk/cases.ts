import type { RouteName } from "@cognition/contract";
import type { WalkCase } from "./case.ts";
import { CONTENT_CASES } from "./content-cases.ts";
import { SESSION_CASES } from "./session-cases.ts";

/** One for each route: a route without a case does not compile, and fails the walk's first test. */
const BY_ROUTE: Record<RouteName, WalkCase> = { ...SESSION_CASES, ...CONTENT_CASES };

export const CASES = Object.entries(BY_ROUTE) as [RouteName, WalkCase][];

/** Every request of every case. */
export const REQUESTS = CASES.flatMap(([name, { requests, foreign }]) =>
  requests.map((request) => ({ name, request, foreign })),
);
