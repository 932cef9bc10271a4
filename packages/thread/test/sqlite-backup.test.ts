import { existsSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { afterEach, beforeEach, expect, test } from "vitest";
import { createMemoryDir, type TempDir } from "../../../testing/temp-dir.ts";
import { openStorage } from "../src/open-storage.ts";
import { backupSqlite } from "../src/sql/sqlite-backup.ts";
import { type Child, startChild } from "./child.ts";

/** Of different lengths: the writer is at work between any two of them. */
const COPIES = 5;

let dir: TempDir;
const children: Child[] = [];
beforeEach(() => {
  dir = createMemoryDir();
});
afterEach(async () => {
  await Promise.all(children.splice(0).map((child) => child.kill()));
  dir.remove();
});

/** What a copy holds, opened as a server would; checked by SQLite itself first. */
async function readCopy(file: string, session_id: string): Promise<{ messages: string[]; sessions: number }> {
  const db = new DatabaseSync(file, { readOnly: true });
  expect(db.prepare("pragma integrity_check").all()).toEqual([{ integrity_check: "ok" }]);
  expect(db.prepare("pragma foreign_key_check").all()).toEqual([]);
  db.close();
  const storage = await openStorage(file);
  try {
    const messages = await storage.listMessagesForSession(session_id);
    return { messages: messages.map(({ content }) => String(content)), sessions: await storage.countSessions() };
  } finally {
    await storage.close();
  }
}

test("copies made while another process writes are each whole, and later ones hold more", async () => {
  const path = join(dir.path, "state.db");
  const storage = await openStorage(path);
  const { id: session_id } = await storage.createSession({});
  const child = startChild("write", { uri: path, session_id });
  children.push(child);
  await child.next();
  child.go();
  const counts: number[] = [];
  // It writes until it is told to stop, which is after the last of them.
  for (let n = 0; new Set(counts).size < COPIES; n++) {
    const target = join(dir.path, `copies/${n}.db`);
    backupSqlite({ path, target });
    const { messages } = await readCopy(target, session_id);
    // One writer, one message after the other: a copy has all up to some point and nothing else.
    expect(messages).toEqual(Array.from(messages, (_, index) => `${index}`));
    counts.push(messages.length);
  }
  expect(counts).toEqual(counts.toSorted((a, b) => a - b));
  child.go();
  const told = await child.next();
  expect(told).toEqual({ failures: 0, rounds: expect.any(Number) });

  backupSqlite({ path, target: join(dir.path, "last.db") });
  const { messages } = await readCopy(join(dir.path, "last.db"), session_id);
  expect(told).toMatchObject({ rounds: messages.length });
  await storage.close();
});

test("restored in the place of a lost database, it goes on", async () => {
  const path = join(dir.path, "state.db");
  const storage = await openStorage(path);
  const { id: session_id } = await storage.createSession({ title: "kept" });
  backupSqlite({ path, target: join(dir.path, "copy.db") });
  await storage.createMessage({ session_id, role: "user", content: "after the copy" });
  await storage.close();

  writeFileSync(path, readFileSync(join(dir.path, "copy.db")));
  const restored = await openStorage(path);
  expect(await restored.getSession(session_id)).toMatchObject({ title: "kept", message_count: 0 });
  await restored.createMessage({ session_id, role: "user", content: "and on" });
  expect(await restored.listMessagesForSession(session_id)).toHaveLength(1);
  await restored.close();
});

test("restored beside the log of a server that was killed, it is refused as long as that is there, and stays whole", async () => {
  const path = join(dir.path, "state.db");
  const copy = join(dir.path, "copy.db");
  const storage = await openStorage(path);
  const { id: session_id } = await storage.createSession({ title: "kept" });
  backupSqlite({ path, target: copy });
  await storage.createMessage({ session_id, role: "user", content: "after the copy" });
  const left = readFileSync(`${path}-wal`);
  await storage.close();

  writeFileSync(path, readFileSync(copy));
  writeFileSync(`${path}-wal`, left);
  const message = expect.stringMatching(/Nothing was changed\. Remove .*state\.db-wal and .*state\.db-shm/);
  await expect(openStorage(path)).rejects.toMatchObject({ code: "corrupt_data", message });
  expect(readFileSync(path)).toEqual(readFileSync(copy));
  expect(readFileSync(`${path}-wal`)).toEqual(left);
  rmSync(`${path}-wal`);
  expect(await readCopy(path, session_id)).toEqual({ messages: [], sessions: 1 });
});

test("never over a file that is there, and never a copy of nothing", () => {
  const path = join(dir.path, "state.db");
  const target = join(dir.path, "copy.db");
  expect(() => backupSqlite({ path, target })).toThrow(`There is no SQLite database ${path}`);
  expect(existsSync(path)).toBe(false);
  writeFileSync(path, "no database");
  writeFileSync(target, "precious");
  expect(() => backupSqlite({ path, target })).toThrow("is there already");
  expect(readFileSync(target, "utf8")).toBe("precious");
  const other = join(dir.path, "other.db");
  expect(() => backupSqlite({ path, target: other })).toThrow("can't be copied");
  expect([other, `${other}.unfinished`].filter((file) => existsSync(file))).toEqual([]);
});
