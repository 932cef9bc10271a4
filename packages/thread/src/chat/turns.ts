import type { ChatKey } from "./chat-session-store.ts";
import { createPairMap } from "./pair-map.ts";

/** Calls about one chat one after the other, in the order they came; chats don't wait for each other. */
export function createTurns(): <T>(key: ChatKey, call: () => Promise<T>) => Promise<T> {
  const lasts = createPairMap<Promise<unknown>>();
  return async (key, call) => {
    const before = lasts.get(key);
    // A failure is its own caller's; the next in line goes on.
    const mine = before ? before.then(call, call) : call();
    lasts.set(key, mine);
    try {
      return await mine;
    } finally {
      if (lasts.get(key) === mine) lasts.delete(key);
    }
  };
}
