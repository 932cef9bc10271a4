import type { Parts } from "./send.ts";
import type { World } from "./world.ts";

/**
 * What a caller of another scope gets who names this thing: a refusal by status and code; `nothing`, an answer as for a
 * name that does not exist; `own`, his own thing of that name.
 */
export type Outcome = `${403 | 404 | 422} ${string}` | "nothing" | "own";

export interface WalkCase {
  /** Requests that the owner of the world may make; together they fill every field that can name something. */
  readonly requests: readonly ((world: World) => Parts)[];
  /** For each such field, such as `path.id` or `body.decisions[].id`. */
  readonly foreign: Readonly<Record<string, Outcome>>;
}

export function walk(foreign: Record<string, Outcome>, ...requests: ((world: World) => Parts)[]): WalkCase {
  return { requests, foreign };
}

/** No field of it names anything. */
export function plain(parts: Parts = {}): WalkCase {
  return walk({}, () => parts);
}

/** A route under `/sessions/{id}`. */
export function ofSession(
  more: (world: World) => Parts = () => ({}),
  foreign: Record<string, Outcome> = {},
  ...others: ((world: World) => Parts)[]
): WalkCase {
  const requests = [more, ...others].map((request) => (world: World) => {
    const { path, ...rest } = request(world);
    return { path: { id: world.session_id, ...path }, ...rest };
  });
  return walk({ "path.id": "404 session_not_found", ...foreign }, ...requests);
}
