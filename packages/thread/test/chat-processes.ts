import { expect } from "vitest";
import type { ChatSessionStore } from "../src/chat/chat-session-store.ts";
import { startChild } from "./child.ts";

/** Two processes, a hundred calls each, in the same moment: whoever checks before it writes makes two sessions. */
export async function raceForOneSession(backend: string, uri: string, store: ChatSessionStore): Promise<void> {
  const children = [1, 2].map(() => startChild("get-or-create", { backend, uri, calls: 100 }));
  try {
    await Promise.all(children.map((child) => child.next()));
    for (const child of children) child.go();
    const [a, b] = await Promise.all(children.map((child) => child.next()));
    expect(a).toHaveLength(1);
    expect(b).toEqual(a);
    expect(await store.load("u", "c")).toMatchObject({ session_id: (a as string[])[0] });
  } finally {
    await Promise.all(children.map((child) => child.kill()));
  }
}
