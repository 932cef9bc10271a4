import { ROUTES, type RouteName } from "@cognition/contract";
import { SCOPELESS_ROUTES } from "../../../src/http/guard.ts";
import { CASES } from "./cases.ts";
import { type Ask, send } from "./send.ts";
import type { World } from "./world.ts";

/** Attempts to send a callback go on while nobody asks for anything. */
const VOLATILE: ReadonlySet<string> = new Set(["attempts", "next_attempt_at"]);

/** All that the owner of a world can see of it, by request. */
export async function viewOf(ask: Ask, world: World): Promise<Record<string, unknown>> {
  const seen: Record<string, unknown> = {};
  for (const [name, { requests }] of CASES) {
    if (ROUTES[name].method !== "GET" || SCOPELESS_ROUTES.has(name)) continue;
    for (const [index, request] of requests.entries()) {
      const text = await (await send(ask, name, request(world), world.headers)).text();
      seen[`${name} ${index}`] = steady(name, text);
    }
  }
  return seen;
}

function steady(name: RouteName, text: string): unknown {
  if (ROUTES[name].path.startsWith("/deliveries")) {
    return JSON.parse(text, (key, value) => (VOLATILE.has(key) ? undefined : value));
  }
  return text;
}
