import { join } from "node:path";
import { afterEach, expect, it } from "vitest";
import { createMemoryDir } from "../../../testing/temp-dir.ts";
import { openStorage } from "../src/open-storage.ts";
import { type Child, startChild } from "./child.ts";

const PROCESSES = 4;
const ROUNDS = 50;
const dir = createMemoryDir();
const children: Child[] = [];

afterEach(async () => {
  await Promise.all(children.map((child) => child.kill()));
  dir.remove();
});

it("four processes write to one file at once: no error, no lost count", { tags: "long" }, async () => {
  const uri = join(dir.path, "state.db");
  const storage = await openStorage(uri);
  const { id: session_id } = await storage.createSession({});
  for (let n = 0; n < PROCESSES; n++) children.push(startChild("write", { uri, session_id, rounds: ROUNDS }));
  await Promise.all(children.map((child) => child.next()));
  for (const child of children) child.go();
  for (const child of children) expect(await child.next()).toEqual({ failures: 0, rounds: ROUNDS });
  expect(await storage.countSessions()).toBe(1 + PROCESSES * ROUNDS);
  expect(await storage.listMessagesForSession(session_id)).toHaveLength(PROCESSES * ROUNDS);
  expect(await storage.getSession(session_id)).toMatchObject({ message_count: 2 * PROCESSES * ROUNDS });
  const titled = await storage.listSessions({ metadata_filters: { n: "7" } });
  expect(titled.map(({ title }) => title)).toEqual(Array(PROCESSES).fill("7"));
  await storage.close();
});
