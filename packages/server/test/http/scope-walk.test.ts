import { ROUTES, type RouteName, type Scope } from "@cognition/contract";
import type { Storage } from "@cognition/thread";
import { describe, expect, it, onTestFinished } from "vitest";
import { engines, onEveryEngine } from "../../../thread/test/engines.ts";
import type { Config } from "../../src/config/config-schema.ts";
import { defaultConfig } from "../../src/config.ts";
import { createApiKeys } from "../../src/http/auth/api-keys.ts";
import { SCOPELESS_ROUTES } from "../../src/http/guard.ts";
import { startTestServer } from "./test-server.ts";
import { CASES, REQUESTS } from "./walk/cases.ts";
import { fieldsOf } from "./walk/fields.ts";
import { isPlain } from "./walk/plain-fields.ts";
import { type Ask, send } from "./walk/send.ts";
import { createStranger, type Findings } from "./walk/stranger.ts";
import { viewOf } from "./walk/view.ts";
import { AGENT_FILES, createWorld, headersOf, RECEIVER, type World } from "./walk/world.ts";

const SCOPING = { enabled: true, keys: ["user", "project"] };
const NAMES = Object.keys(ROUTES) as RouteName[];

/** Not in the table, since they are the same for everybody; each has its own test below. */
const SAME_FOR_ALL = /^(body\.idempotency_key|body\.workspace_path|body\.working_directory)$/;

/** Lists whose cursors are the ids of rows; other cursors are places, which name nothing. */
const CURSORS_ARE_IDS: ReadonlySet<RouteName> = new Set([
  "listSessions",
  "listMessages",
  "listRuns",
  "listDeliveries",
  "listArtifacts",
]);

function needsCase(name: RouteName, field: string): boolean {
  if (field === "query.cursor") return CURSORS_ARE_IDS.has(name);
  return !isPlain(name, field) && !SAME_FOR_ALL.test(field);
}

function config(more: Partial<Config> = {}): Config {
  const config = defaultConfig();
  const webhooks = { ...config.webhooks, allow_addresses: [RECEIVER] };
  return { ...config, scoping: SCOPING, webhooks, workspace: { ...config.workspace, isolation: "session" }, ...more };
}

async function start(storage?: Storage) {
  const server = await startTestServer({ config: config(), agents: AGENT_FILES, ...(storage && { storage }) });
  const create = (scope?: Scope) => createWorld({ ask: server.ask, ...(scope && { scope }) });
  return { ...server, create };
}

describe("the walk", () => {
  it("has a case for every route and every field that can name something", () => {
    expect(CASES.map(([name]) => name).sort()).toEqual([...NAMES].sort());
    const wanted = NAMES.flatMap((name) => fieldsOf(name).map((field) => ({ name, field })))
      .filter(({ name, field }) => needsCase(name, field))
      .map(({ name, field }) => `${name} ${field}`);
    const there = CASES.flatMap(([name, { foreign }]) => Object.keys(foreign).map((field) => `${name} ${field}`));
    expect(there.sort()).toEqual(wanted.sort());
    expect(there.length).toBeGreaterThan(90);
  });
});

const walked = engines.filter(({ name }) => name !== "sqlite");

onEveryEngine(
  "the walk",
  (open) => {
    it("another scope finds nothing, whichever id it knows and wherever it puts it; the owner finds all as it was", {
      timeout: 300_000,
    }, async () => {
      const { storage, dispose } = await open();
      onTestFinished(dispose);
      const { ask, faults, create } = await start(storage);
      const victim = await create();
      const before = await viewOf(ask, victim);
      const findings: Findings = { holes: [], tried: new Set() };
      let count = 0;
      const strangers = [() => create(), () => create({ user: victim.user_id, project: `other-${++count}` })].map(
        (createOne) => createStranger({ ask, victim, createStranger: createOne }, findings),
      );
      for (const [name, route] of CASES) {
        for (const stranger of strangers) await stranger.tryRoute(name, route);
      }
      expect(await viewOf(ask, victim)).toEqual(before);
      expect(findings.holes).toEqual([]);
      expect([...findings.tried].sort()).toEqual(
        CASES.flatMap(([name, { foreign }]) => Object.keys(foreign).map((field) => `${name} ${field}`)).sort(),
      );
      expect(faults).toEqual([]);
    });
  },
  walked,
);

describe("with scoping on", () => {
  it("every owner's request succeeds, with an idempotency key that every other owner uses as well", {
    timeout: 300_000,
    tags: "long",
  }, async () => {
    const { ask, faults, create } = await start();
    const failed: string[] = [];
    const marks: string[] = [];
    let world = await create();
    for (const { name, request } of REQUESTS) {
      const response = await send(ask, name, request(world), { ...world.headers, "Idempotency-Key": "the same" });
      const text = await response.text();
      if (response.status !== ROUTES[name].status) failed.push(`${name}: ${response.status} ${text}`);
      if (marks.some((mark) => text.includes(mark))) failed.push(`${name} shows another owner's: ${text}`);
      if (ROUTES[name].method === "GET") continue;
      marks.push(world.mark);
      world = await create();
    }
    expect(failed).toEqual([]);
    expect(faults).toEqual([]);
  });

  it("two owners who send the same message, or the same answer, with the same key have a run each", async () => {
    const { ask, create } = await start();
    const [one, other] = [await create(), await create()];
    for (const name of ["sendMessage", "resumeSession"] as const) {
      const runs: string[] = [];
      for (const { headers, session_id, waiting_id, interrupt_id } of [one, other, one]) {
        const answer = { path: { id: waiting_id }, body: { decisions: [{ id: interrupt_id, type: "approve" }] } };
        const message = { path: { id: session_id }, body: { content: "Hello" } };
        const parts = name === "sendMessage" ? message : answer;
        const answered = await send(ask, name, parts, { ...headers, "Idempotency-Key": name });
        const { id } = (await answered.json()) as { id: string };
        runs.push(id);
      }
      expect([name, runs[1] !== runs[0], runs[2]]).toEqual([name, true, runs[0]]);
    }
  });

  it("every request without all of its scope's headers is refused, but those that know no scope", async () => {
    const { ask, create } = await start();
    const world = await create();
    const incomplete = [{}, ...Object.entries(world.scope).map(([key, value]) => headersOf({ [key]: value }))];
    const wrong: string[] = [];
    for (const headers of incomplete) {
      for (const [name, { requests }] of CASES) {
        const answer = await codeOf(send(ask, name, (requests[0] as (world: World) => object)(world), headers));
        const wanted = SCOPELESS_ROUTES.has(name) ? "200" : "403 scope_required";
        if (answer.code !== wanted || answer.text.includes(world.mark)) wrong.push(`${name}: ${answer.text}`);
      }
    }
    expect(wrong).toEqual([]);
  });

  it("a key that is bound to a scope opens that one: others' headers are refused, others' ids are not found", async () => {
    const access = config({ auth: { ...defaultConfig().auth, mode: "api_key" } });
    const { ask: anybody, storage } = await startTestServer({ config: access, agents: AGENT_FILES });
    const keys = createApiKeys(storage.apiKeys);
    const withKey =
      (key: string): Ask =>
      (path, init) =>
        anybody(path, { ...init, headers: { ...(init?.headers as Record<string, string>), "X-API-Key": key } });
    const admin = withKey((await keys.create({ name: "admin", scope: null, admin: true })).key);
    const victim = await createWorld({ ask: admin });
    const wrong: string[] = [];
    for (const { name, request, foreign } of REQUESTS.filter((one) => !SCOPELESS_ROUTES.has(one.name))) {
      const own = { user: `mallory of ${name}`, project: "common" };
      const mallory = withKey((await keys.create({ name, scope: own })).key);
      for (const headers of [victim.headers, headersOf({ user: victim.user_id })]) {
        const { code, text } = await codeOf(send(mallory, name, request(victim), headers));
        if (code !== "403 scope_mismatch") wrong.push(`${name} with the victim's headers: ${text}`);
      }
      const { code, text } = await codeOf(send(mallory, name, request(victim), {}));
      const answers = Object.values(foreign).every((outcome) => outcome === "own" || outcome === "nothing");
      const right = answers || /^4(03|04|22)/.test(code);
      if (!right || text.includes(victim.mark)) wrong.push(`${name} with the victim's ids: ${text}`);
    }
    expect(wrong).toEqual([]);
  });

  it("what is the same for all: no folder of one's choice, no way out of the folder", async () => {
    const { ask, create } = await start();
    const [world, victim] = [await create(), await create()];
    const { headers } = world;
    const { workspace_path } = (await (
      await send(ask, "getSession", { path: { id: victim.session_id } }, victim.headers)
    ).json()) as { workspace_path: string };
    const { user_id } = world;
    const folder = [
      send(ask, "createSession", { body: { workspace_path } }, headers),
      send(ask, "putChat", { path: { user_id, chat_id: "new" }, body: { working_directory: workspace_path } }, headers),
    ];
    for (const asked of folder) expect((await codeOf(asked)).code).toBe("422 workspace_path_refused");
    const ways = [
      `${workspace_path}/${victim.file}`,
      `../${victim.session_id}/${victim.file}`,
      `a/../../${victim.session_id}/${victim.file}`,
    ];
    for (const name of ["getFile", "putFile", "deleteFile"] as const) {
      for (const path of ways) {
        const answer = await codeOf(send(ask, name, { path: { id: world.session_id, path }, body: "x" }, headers));
        expect([name, path, answer.code]).toEqual([name, path, expect.stringMatching(/^4(04|22) /)]);
      }
    }
    const kept = await send(ask, "getFile", { path: { id: victim.session_id, path: victim.file } }, victim.headers);
    expect(await kept.text()).toBe(victim.mark);
  });
});

async function codeOf(answer: Promise<Response>): Promise<{ code: string; text: string }> {
  const response = await answer;
  const text = await response.text();
  const code = response.ok ? `${response.status}` : `${response.status} ${(JSON.parse(text) as { code: string }).code}`;
  return { code, text };
}
