import type { News, WakeUps } from "./wake-ups.ts";

/** Reading the counter takes microseconds and no lock that a writer would notice. */
const LOOK_MS = 25;

/** SQLite tells nobody, but counts the commits of other connections: `pragma data_version`. */
export function createSqliteWakeUps(dataVersion: () => number): WakeUps {
  const listeners = new Set<(news: News) => void>();
  let timer: NodeJS.Timeout | undefined;
  let seen: number | undefined;

  /** Undefined while the file can't be read: whoever reads or writes is told so. Thrown from a timer, it would end the process. */
  function versionNow(): number | undefined {
    try {
      return dataVersion();
    } catch {
      return undefined;
    }
  }

  function look(): void {
    const version = versionNow();
    if (version === undefined || version === seen) return;
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
        seen = versionNow();
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
