import { randomUUID } from "node:crypto";
import { ROUTES, type RouteName, Uuid } from "@cognition/contract";
import type { Outcome, WalkCase } from "./case.ts";
import { type Ask, type Parts, replaceAt, send, valuesAt } from "./send.ts";
import type { World } from "./world.ts";

export interface StrangerOptions {
  readonly ask: Ask;
  readonly victim: World;
  /** A world of another scope, made anew after each request that changed something in it. */
  readonly createStranger: () => Promise<World>;
}

export interface Findings {
  /** What should not be. */
  readonly holes: string[];
  /** `route field` that were tried. */
  readonly tried: Set<string>;
}

interface Answer {
  readonly ok: boolean;
  readonly status: number;
  readonly text: string;
}

/** One who knows every id of the victim, and tries each of them in each place where an id can stand. */
export function createStranger({ ask, victim, createStranger }: StrangerOptions, { holes, tried }: Findings) {
  let self: World | undefined;

  async function attempt(name: RouteName, make: (self: World) => Parts): Promise<Answer> {
    self ??= await createStranger();
    const { headers } = self;
    const response = await send(ask, name, make(self), headers);
    const answer = { ok: response.ok, status: response.status, text: await response.text() };
    if (answer.ok && !isRead(name)) self = undefined;
    return answer;
  }

  async function tryField(name: RouteName, request: WalkCase["requests"][number], field: string, outcome: Outcome) {
    const [theirs] = valuesAt(request(victim), field);
    self ??= await createStranger();
    if (theirs === undefined || theirs === valuesAt(request(self), field)[0]) return;
    tried.add(`${name} ${field}`);
    const answer = await attempt(name, (own) => replaceAt(request(own), field, theirs));
    const hole = judge(answer, outcome, victim.mark);
    if (hole) holes.push(`${name} ${field}: ${hole}`);
    if (outcome === "own") return;
    const nobody = unknownLike(theirs);
    const other = await attempt(name, (own) => replaceAt(request(own), field, nobody));
    // Whether a thing exists in another scope is not told either.
    if (blank(answer.text, String(theirs)) !== blank(other.text, nobody)) {
      holes.push(`${name} ${field}: differs from an unknown one: ${answer.text} | ${other.text}`);
    }
  }

  return {
    async tryRoute(name: RouteName, { requests, foreign }: WalkCase): Promise<void> {
      for (const request of requests) {
        for (const [field, outcome] of Object.entries(foreign)) await tryField(name, request, field, outcome);
        const { status, text } = await attempt(name, () => request(victim));
        if (status >= 500 || text.includes(victim.mark)) holes.push(`${name} as the victim: ${status} ${text}`);
        const refusals = Object.entries(foreign).filter(
          ([field, outcome]) =>
            /^4/.test(outcome) && valuesAt(request(victim), field).some((id) => id !== victim.user_id),
        );
        if (refusals.length > 0 && status < 400) holes.push(`${name} as the victim is answered: ${status} ${text}`);
      }
    },
  };
}

function judge({ ok, status, text }: Answer, outcome: Outcome, mark: string): string | undefined {
  if (text.includes(mark)) return `shows ${text}`;
  if (outcome === "own" || outcome === "nothing") return ok ? undefined : `${status} ${text} instead of ${outcome}`;
  const got = ok ? `${status}` : `${status} ${(JSON.parse(text) as { code: string }).code}`;
  return got === outcome ? undefined : `${got} instead of ${outcome}: ${text}`;
}

function isRead(name: RouteName): boolean {
  return ROUTES[name].method === "GET" || name === "searchStore" || name === "listNamespaces";
}

/** Ids tell their time, which is no secret to one who has the id: the unknown one is of the same time. */
function unknownLike(id: unknown): string {
  const nobody = randomUUID();
  return Uuid.safeParse(id).success ? String(id).slice(0, 14) + nobody.slice(14) : `unknown-${nobody}`;
}

function blank(text: string, id: string): string {
  return text.replaceAll(id, "?").replaceAll(encodeURIComponent(id), "?");
}
