import { openStorage } from "@cognition/thread";
import { expect, it, onTestFinished, vi } from "vitest";
import { createOnce } from "../../src/session/create-once.ts";

const DAY_MS = 24 * 3_600_000;

async function open() {
  const storage = await openStorage("memory");
  onTestFinished(() => storage.close());
  return storage;
}

it("a key names one session, though nobody could note that it was made", async () => {
  const storage = await open();
  const first = await createOnce(storage, { title: "a", scopes: { user: "ann" } }, "key");
  expect(await createOnce(storage, { title: "a", scopes: { user: "ann" } }, "key")).toEqual(first);
  const tries = Array.from({ length: 5 }, () => createOnce(storage, { scopes: {} }, "at once"));
  expect(new Set((await Promise.all(tries)).map(({ id }) => id)).size).toBe(1);
  expect(await storage.countSessions()).toBe(2);
});

it("another key, or another scope's, names another", async () => {
  const storage = await open();
  const made = await Promise.all([
    createOnce(storage, { scopes: { user: "ann" } }, "key"),
    createOnce(storage, { scopes: { user: "ann" } }, "other"),
    createOnce(storage, { scopes: { user: "bob" } }, "key"),
    createOnce(storage, { scopes: {} }, "key"),
  ]);
  expect(new Set(made.map(({ id }) => id)).size).toBe(4);
});

it("one that was deleted is not found again, and its id sorts by time like any other", async () => {
  const storage = await open();
  const first = await createOnce(storage, { scopes: {} }, "key");
  await storage.deleteSession(first.id);
  const second = await createOnce(storage, { scopes: {} }, "key");
  const third = await createOnce(storage, { scopes: {} }, "other");
  expect([first.id, second.id, third.id].sort()).toEqual([first.id, second.id, third.id]);
});

it("a day later the same key means a new one", async () => {
  const storage = await open();
  const first = await createOnce(storage, { scopes: {} }, "key");
  vi.spyOn(Date, "now").mockReturnValue(Date.now() + DAY_MS + 1);
  onTestFinished(() => void vi.restoreAllMocks());
  expect((await createOnce(storage, { scopes: {} }, "key")).id).not.toBe(first.id);
});
