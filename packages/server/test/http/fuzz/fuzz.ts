import { once } from "node:events";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { Problem, ROUTES } from "@cognition/contract";
import fc from "fast-check";
import { onTestFinished } from "vitest";
import { defaultConfig } from "../../../src/config.ts";
import { startTestServer, type TestServer } from "../test-server.ts";
import { until } from "../until.ts";
import { REQUESTS } from "../walk/cases.ts";
import { type Parts, removeAt, replaceAt, urlOf } from "../walk/send.ts";
import { AGENT_FILES, createWorld, type World } from "../walk/world.ts";
import { type FieldCase, type FuzzCase, fuzzCase, type ManneredCase } from "./fuzz-case.ts";
import { type Digest, openSqlite } from "./fuzzed-storage.ts";
import { createRawClient, type RawAnswer, type RawRequest } from "./raw-request.ts";

export interface FuzzResult {
  readonly sent: number;
  readonly kinds: Record<string, number>;
  /** By status. */
  readonly answers: Record<string, number>;
  readonly wrong: string[];
  readonly alive: boolean;
  readonly faults: unknown[];
}

/** After these there is not much left of the world to ask about. */
const SPENDS_WORLD: ReadonlySet<string> = new Set([
  "deleteSession",
  "updateSession",
  "resumeSession",
  "completeTask",
  "deleteArtifact",
  "deleteAgent",
  "deleteProvider",
]);
const REPORTED = 400;

/** Sends so many odd requests to a started server, one after the other, and tells what should not have been. */
export async function fuzz(count: number, seed: number, openFuzzed = openSqlite): Promise<FuzzResult> {
  const { storage, digest, dispose } = await openFuzzed();
  const receiver = await startReceiver();
  const server = await startFuzzed(storage, receiver);
  const client = createRawClient(server.server.port);
  await keepFromSweeping(storage);
  onTestFinished(async () => {
    client.close();
    await dispose();
  });
  const kinds: Record<string, number> = {};
  const answers: Record<string, number> = {};
  const wrong: string[] = [];
  let world = await createWorld({ ask: server.ask, receiver });
  let sent = 0;
  // Some are what no client can send.
  for (const one of fc.sample(fuzzCase, { numRuns: 2 * count, seed })) {
    if (sent === count) break;
    await quiet(server, digest.openRuns);
    await digest.changed();
    const raw = toRaw(one, world);
    const answer = await client.send(raw).catch((error: unknown) => wrong.push(`${describe(one, raw)} -> ${error}`));
    if (typeof answer !== "object") continue;
    sent += 1;
    kinds[one.kind] = (kinds[one.kind] ?? 0) + 1;
    answers[answer.status] = (answers[answer.status] ?? 0) + 1;
    const hole = await judge(answer, raw, digest.changed);
    if (hole) wrong.push(`${describe(one, raw)} -> ${answer.status} ${hole}: ${answer.text.slice(0, REPORTED)}`);
    if (answer.status >= 300 || !SPENDS_WORLD.has(nameOf(one))) continue;
    try {
      world = await createWorld({ ask: server.ask, receiver });
    } catch (error) {
      wrong.push(`after ${describe(one, raw)} the server is not what it was: ${error}`);
      break;
    }
  }
  const alive = (await server.fetch("/health")).status === 200;
  return { sent, kinds, answers, wrong, alive, faults: server.faults };
}

/** Takes every callback, so that none is tried again later. */
async function startReceiver(): Promise<string> {
  const server = createServer((_, response) => response.writeHead(204).end()).listen(0, "127.0.0.1");
  await once(server, "listening");
  onTestFinished(() => {
    server.closeAllConnections();
    server.close();
  });
  return `127.0.0.1:${(server.address() as AddressInfo).port}`;
}

function startFuzzed(storage: TestServer["storage"], receiver: string): Promise<TestServer> {
  const config = defaultConfig();
  const webhooks = { ...config.webhooks, allow_addresses: [receiver] };
  const workspace = { ...config.workspace, isolation: "session" as const };
  return startTestServer({ storage, agents: AGENT_FILES, config: { ...config, webhooks, workspace } });
}

/** A sweep would change tables in the middle of some request: the server finds that another has done it. */
async function keepFromSweeping(storage: TestServer["storage"]): Promise<void> {
  const claim = { scope: { "server:retention": "sweep" }, key: "sweep", body_hash: "", ttl_ms: 24 * 3_600_000 };
  await storage.claimIdempotencyKey(claim);
}

/** No run and no callback changes anything any more; a run that waits for this node, or was just claimed, would. */
async function quiet({ server, storage }: TestServer, openRuns: Digest["openRuns"]): Promise<void> {
  const isQuiet = async () =>
    (await openRuns()) === 0 &&
    server.runtime.engine.active.length === 0 &&
    (await storage.countDeliveries({ status: "pending" })) === 0;
  await until("runs and callbacks to end", async () => ((await isQuiet()) ? true : undefined), 60_000);
}

function nameOf(one: FuzzCase): string {
  return one.kind === "wild" ? "" : (REQUESTS[one.request]?.name ?? "");
}

function toRaw(one: FuzzCase, world: World): RawRequest {
  if (one.kind === "wild") return one;
  const { name, request } = REQUESTS[one.request] as (typeof REQUESTS)[number];
  const parts = one.kind === "field" ? changed(request(world), one) : request(world);
  const { method, body: kind } = ROUTES[name] as { method: string; body?: unknown };
  // An object may have a member that keeps it from being turned into a text.
  const isText = kind === "bytes" && typeof parts.body !== "object";
  const json = kind === undefined ? undefined : isText ? String(parts.body) : JSON.stringify(parts.body);
  const base = { Accept: "application/json", ...world.headers };
  const target = urlOf(name, parts);
  if (one.kind === "field") return { method, target, headers: Object.entries(base), body: json };
  return mannered(one, { method, target, headers: Object.entries(base), body: json });
}

function changed(parts: Parts, { field, change }: FieldCase): Parts {
  return "drop" in change ? removeAt(parts, field) : replaceAt(parts, field, change.value);
}

function mannered({ headers, body, query }: ManneredCase, raw: RawRequest): RawRequest {
  const joint = raw.target.includes("?") ? "&" : "?";
  const target = query === "" ? raw.target : `${raw.target}${joint}${query}`;
  return { ...raw, target, headers: [...raw.headers, ...headers], body: body ?? raw.body };
}

async function judge({ status, type, text }: RawAnswer, { method }: RawRequest, changedTables: Digest["changed"]) {
  if (status < 400) return undefined;
  const tables = await changedTables();
  if (tables.length > 0) return `changed ${tables.join(", ")}`;
  if (status >= 500) return "a server's error";
  if (method === "HEAD") return undefined;
  if (type !== "application/problem+json") return `not a problem but ${type}`;
  const problem = Problem.safeParse(JSON.parse(text));
  if (!problem.success) return "not a problem of the contract";
  return problem.data.status === status ? undefined : "the problem has another status";
}

function describe(one: FuzzCase, { method, target, headers, body }: RawRequest): string {
  const field = one.kind === "field" ? `${one.field} ${JSON.stringify(one.change).slice(0, 200)} ` : "";
  const odd = one.kind === "field" ? "" : JSON.stringify(headers);
  return `${one.kind} ${nameOf(one)} ${field}${method} ${target.slice(0, 200)} ${odd} ${String(body).slice(0, 200)}`;
}
