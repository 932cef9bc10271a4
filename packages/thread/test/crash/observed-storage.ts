import type { ChatSessionStore } from "../../src/chat/chat-session-store.ts";
import type { CheckpointSaver } from "../../src/checkpoint-saver.ts";
import type { Store } from "../../src/memory-store.ts";
import type { Storage } from "../../src/storage.ts";
import { atWork } from "./failpoint.ts";

export interface Observed {
  storage: Storage;
  saver: CheckpointSaver;
  store: Store;
  chat: ChatSessionStore;
  /** The names of all methods there are. */
  methods: string[];
}

/** The first three share a commit when they meet, so they go by one name. */
const SAVER_METHODS = {
  put: "saver.put",
  putWrites: "saver.put",
  appendEvents: "saver.put",
  deleteThread: "saver.deleteThread",
  copyThread: "saver.copyThread",
  prune: "saver.prune",
  sweepExpired: "saver.sweepExpired",
  setThreadTtl: "saver.setThreadTtl",
} as const;
const STORE_METHODS = { batch: "store.batch", sweepExpired: "store.sweepExpired" } as const;

/** The same storage; what goes on inside knows by which method it was asked for. */
export async function observe(storage: Storage): Promise<Observed> {
  const saver = await storage.getCheckpointer();
  const store = await storage.getStore();
  const methods: string[] = [...Object.values(SAVER_METHODS), ...Object.values(STORE_METHODS)];
  rename(saver, SAVER_METHODS);
  rename(store, STORE_METHODS);
  const chat = named(await storage.getChatStore(), "chats.", methods);
  return { storage: named(storage, "", methods), saver, store, chat, methods };
}

type Method = (...args: unknown[]) => unknown;

function named<T extends object>(target: T, prefix: string, methods: string[]): T {
  const entries = Object.entries(target).map(([key, value]) => {
    if (typeof value === "object" && value !== null) return [key, named(value, `${prefix}${key}.`, methods)];
    if (typeof value !== "function") return [key, value];
    const name = `${prefix}${key}`;
    methods.push(name);
    return [
      key,
      (...args: unknown[]) => atWork.run({ method: name, underway: false }, () => (value as Method)(...args)),
    ];
  });
  return Object.fromEntries(entries);
}

function rename(target: object, names: Record<string, string>): void {
  for (const [key, name] of Object.entries(names)) {
    const method = (Reflect.get(target, key) as Method).bind(target);
    Reflect.set(target, key, (...args: unknown[]) =>
      atWork.run({ method: name, underway: false }, () => method(...args)),
    );
  }
}
