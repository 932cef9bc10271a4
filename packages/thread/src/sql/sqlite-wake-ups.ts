import type { News, WakeUps } from "./wake-ups.ts";

/** Reading the counter takes microseconds and no lock that a writer would notice. */
const LOOK_MS = 25;

/** SQLite tells nobody, but counts the commits of other connections: `pragma data_version`. */
export function createSqliteWakeUps(dataVersion: () => number): WakeUps {
  const listeners = new Set<(news: News) => void>();
  let timer: NodeJS.Timeout | undefined;
  let seen = 0;

  function look(): void {
    const version = dataVersion();
    if (version === seen) return;
    seen = version;
    for (const onNews of listeners) onNews("any");
  }

  function stop(): void {
    clearInterval(timer);
    timer = undefined;
  }

  return {
    send: () => undefined,
    listen: (onNews) => {
      listeners.add(onNews);
      if (timer === undefined) {
        seen = dataVersion();
        timer = setInterval(look, LOOK_MS);
      }
      return () => {
        if (listeners.delete(onNews) && listeners.size === 0) stop();
      };
    },
    close: async () => {
      listeners.clear();
      stop();
    },
  };
}
