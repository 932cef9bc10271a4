import type { Route } from "@cognition/contract";
import { tooLarge } from "./gather-rows.ts";

export interface JsonReply {
  readonly status: number;
  readonly body: unknown;
}

/** What a handler gave, if it is not a response of its own. With `check`, a reply that breaks the contract is a fault. */
export function toJsonReply(name: string, route: Route, value: unknown, check: boolean): JsonReply {
  if (check) checkReply(name, route, value);
  return { status: route.status, body: value };
}

export function jsonResponse({ status, body }: JsonReply): Response {
  if (body === undefined) return new Response(null, { status });
  return new Response(toJson(body), { status, headers: { "Content-Type": "application/json" } });
}

const TOO_LONG = "Invalid string length";

/** A page of large rows may be longer than a text can be. */
function toJson(body: unknown): string {
  try {
    return JSON.stringify(body);
  } catch (cause) {
    if (!(cause instanceof RangeError && cause.message === TOO_LONG)) throw cause;
    throw tooLarge(cause);
  }
}

/** As a client will see it: fields that JSON leaves out are not there. */
function checkReply(name: string, { response }: Route, value: unknown): void {
  if (!response) {
    if (value !== undefined) throw new TypeError(`${name} has no reply, but its handler gave one`);
    return;
  }
  const result = response.safeParse(JSON.parse(JSON.stringify(value)));
  if (!result.success)
    throw new TypeError(`the reply of ${name} is not what the contract says: ${result.error.message}`);
}
