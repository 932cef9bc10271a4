import { join } from "node:path";
import type { ApprovalPage, Artifact, Message, Run, Session } from "@cognition/contract";
import { openStorage } from "@cognition/thread";
import { describe, expect, inject, it, onTestFinished } from "vitest";
import { createDatabase } from "../../../../testing/database.ts";
import { createMemoryDir } from "../../../../testing/temp-dir.ts";
import { loadRelease, RELEASES, type Release, writeRelease } from "../../../thread/test/release-database.ts";
import { startTestServer, type TestServer } from "../http/test-server.ts";
import { until } from "../http/until.ts";

const ENDED = ["succeeded", "failed", "aborted", "waiting_for_approval"];
const ASKER = "---\ndescription: Asks\ninterrupt_on: {write_file: true}\n---\nYou ask.\n";
const ANN = { "X-Cognition-Scope-User": "ann" };

const ENGINES = {
  sqlite: (_: Release, file: string) => Promise.resolve(file),
  postgres: async (release: Release, file: string) => {
    const { url, drop } = await createDatabase(inject("postgresUrl"));
    onTestFinished(drop);
    await loadRelease(release, file, url);
    return url;
  },
};

/** A server of this release on what a server of that one had left. */
async function takeOver(engine: keyof typeof ENGINES, release: Release) {
  const dir = createMemoryDir();
  onTestFinished(() => dir.remove());
  const file = join(dir.path, "state.db");
  writeRelease(release, file);
  const storage = await openStorage({ uri: await ENGINES[engine](release, file), pool: { min: 0, max: 4 } });
  onTestFinished(() => storage.close());
  const node = await startTestServer({ storage, root: join(dir.path, "root"), agents: { "asker.md": ASKER } });
  return createCaller(node);
}

type Caller = Awaited<ReturnType<typeof takeOver>>;

function createCaller(node: TestServer) {
  const ask = async <T>(path: string, json?: unknown, method = json === undefined ? "GET" : "POST"): Promise<T> => {
    const headers = { ...ANN, Prefer: "respond-async" };
    const response = await node.ask(path, { method, headers, ...(json !== undefined && { json }) });
    const text = await response.text();
    if (!response.ok) throw new Error(`${method} ${path}: ${response.status} ${text}`);
    const isJson = response.headers.get("content-type")?.includes("json");
    return (isJson ? JSON.parse(text) : text) as T;
  };
  const settled = (session_id: string, run_id: string) =>
    until(`run ${run_id} to settle`, async () => {
      const run = await ask<Run>(`/sessions/${session_id}/runs/${run_id}`);
      return ENDED.includes(run.status) ? run : undefined;
    });
  const messages = async (session_id: string) =>
    (await ask<{ messages: Message[] }>(`/sessions/${session_id}/messages?limit=500&order=asc`)).messages;
  return {
    ask,
    settled,
    messages,
    faults: node.faults,
    storage: node.storage,
    sessions: async () => {
      const { sessions } = await ask<{ sessions: Session[] }>("/sessions?limit=100");
      return new Map(sessions.map((session) => [session.title, session.id]));
    },
    say: async (session_id: string, content: string) =>
      settled(session_id, (await ask<Run>(`/sessions/${session_id}/messages`, { content })).id),
    said: async (session_id: string) =>
      (await messages(session_id)).filter(({ role }) => role === "user").map(({ content }) => content),
    events: async (session_id: string) =>
      (
        await ask<{ events: { id: number; event: string; data: Record<string, unknown> }[] }>(
          `/sessions/${session_id}/events?after=0&limit=1000`,
        )
      ).events,
  };
}

const SAID = {
  kept: ["Create a file named a.txt containing hello", "Hello there"],
  back: ["Create a file named a.txt containing one"],
  fork: ["Create a file named a.txt containing hello", "Hello there", "Create a file named c.txt containing fork"],
  asks: ["Create a file named q.txt containing q"],
};
const TASKS: Record<Release, string> = {
  3: "01a1f648-c3b2-7000-8af2-b44cc46797e1",
  7: "01a1f63d-1377-70d1-bcb9-fe4ee961ec32",
  15: "01a1f63d-3aca-7400-b3ba-17a8ac6a025f",
};
const idIn = (sessions: ReadonlyMap<string | null, string>, title: string) => sessions.get(title) as string;

/** Each session is as it was: its messages are those of its checkpoints, its log has no gap, and it takes the next message. */
async function expectConversations(
  { ask, sessions, said, say, events }: Caller,
  titles: readonly (keyof typeof SAID)[],
) {
  const known = await sessions();
  for (const title of titles) {
    const id = idIn(known, title);
    expect(await said(id)).toEqual(SAID[title]);
    expect(await ask(`/sessions/${id}/messages/rebuild`, {})).toMatchObject({ repaired: 0, added: 0, removed: 0 });
    const log = await events(id);
    expect(log.map(({ id: n }) => n)).toEqual(log.map((_, index) => index + 1));
  }
  expect(await say(idIn(known, "kept"), "Create a file named b.txt containing more")).toMatchObject({
    status: "succeeded",
  });
}

/** What waited for a human still does, and goes on when it is answered. */
async function expectAnswered({ ask, sessions, settled }: Caller) {
  const id = idIn(await sessions(), "asks");
  const { approvals } = await ask<ApprovalPage>("/approvals");
  expect(approvals).toMatchObject([{ session_id: id, tool_name: "write_file" }]);
  const decisions = approvals.map((approval) => ({ id: approval.id, type: "approve" }));
  const run = await ask<Run>(`/sessions/${id}/resume`, { decisions });
  expect(await settled(id, run.id)).toMatchObject({ status: "succeeded" });
  expect(await ask(`/sessions/${id}/files/q.txt`)).toBe("q");
}

/** The run that its node was killed in goes on here, its command is of unknown outcome, and what waited behind it comes after it. */
async function expectTakenOver({ ask, sessions, settled, events }: Caller) {
  const id = idIn(await sessions(), "busy");
  const { runs } = await ask<{ runs: Run[] }>(`/sessions/${id}/runs`);
  expect(runs).toHaveLength(2);
  for (const run of runs) expect(await settled(id, run.id)).toMatchObject({ status: "succeeded" });
  const log = await events(id);
  const outcomes = log.filter(({ event }) => event === "tool_result").map(({ data }) => data["outcome"]);
  expect(outcomes).toEqual(["unknown", "ok"]);
  expect(log.filter(({ event }) => event === "done")).toHaveLength(2);
  expect(await ask(`/sessions/${id}/files/after.txt`)).toBe("after");
}

/** What belongs to no conversation alone. */
async function expectBelongings({ ask, sessions, storage }: Caller, release: Release) {
  const id = idIn(await sessions(), "kept");
  const { artifacts } = await ask<{ artifacts: Artifact[] }>(`/artifacts?session_id=${id}`);
  expect(artifacts).toMatchObject([{ name: "notes.txt", version: 2 }]);
  const path = `/artifacts/${artifacts[0]?.id}`;
  expect(await ask(`${path}?session_id=${id}`, { content: "three" }, "PUT")).toMatchObject({ version: 3 });
  expect(await ask(`${path}/versions/1?session_id=${id}`)).toMatchObject({ content: "one" });
  expect(await ask("/store/items?namespace=a&namespace=b&key=k")).toMatchObject({ value: { v: 1 } });
  expect(await ask("/profiles/ann")).toMatchObject({ preferences: { x: "y" } });
  expect(await (await storage.getChatStore({ user: "ann" })).load("ann", "c1")).toMatchObject({ is_active: true });
  expect(await ask(`/tasks/${TASKS[release]}`)).toMatchObject({ query: "Find it", workspace: { facts: { f: "f" } } });
}

/** What was undone there is redone here, with its files; a fork has those of what it came from. */
async function expectTimeTravel({ ask, sessions, said, events }: Caller) {
  const known = await sessions();
  const back = idIn(known, "back");
  const moved = (await events(back)).find(({ event }) => event === "head_moved");
  await ask(`/sessions/${back}/rewind`, { checkpoint_id: moved?.data["previous_head"] });
  expect(await said(back)).toEqual([...SAID.back, "Create a file named b.txt containing two"]);
  expect(await ask(`/sessions/${back}/files/b.txt`)).toBe("two");
  for (const [file, text] of Object.entries({ "a.txt": "hello", "c.txt": "fork" })) {
    expect(await ask(`/sessions/${idIn(known, "fork")}/files/${file}`)).toBe(text);
  }
}

describe.each(["sqlite", "postgres"] as const)("what an earlier release left on %s", (engine) => {
  it.each(RELEASES)("at schema %i: all of it is there and goes on", async (release) => {
    const caller = await takeOver(engine, release);
    const { ask, faults, say, said } = caller;
    const hasTimeTravel = release > 3;
    await expectTakenOver(caller);
    await expectAnswered(caller);
    await expectConversations(caller, hasTimeTravel ? ["kept", "back", "fork", "asks"] : ["kept", "asks"]);
    await expectBelongings(caller, release);
    if (hasTimeTravel) await expectTimeTravel(caller);
    const kept = idIn(await caller.sessions(), "kept");
    const { id: fork } = await ask<Session>(`/sessions/${kept}/fork`, { title: "new" });
    await ask(`/sessions/${kept}`, undefined, "DELETE");
    expect(await say(fork, "Create a file named d.txt containing d")).toMatchObject({ status: "succeeded" });
    expect(await said(fork)).toEqual([...SAID.kept, "Create a file named b.txt containing more", expect.any(String)]);
    expect(faults).toEqual([]);
  });
});
