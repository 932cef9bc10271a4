import { type FSWatcher, watch } from "node:fs";

/** An editor writes one save as several events; half a file is not worth parsing. */
const DEBOUNCE_MS = 50;

export interface FolderWatch {
  /** Begins to watch if it can and does not yet. A folder that is not there is tried again at the next call. */
  arm(): void;
  close(): void;
}

/**
 * Tells soon after something in the folder changed. A hint, not a promise: network file systems and containers send no
 * events, so whoever needs the truth looks at the files when it uses them. Keeps no process alive.
 */
export function createFolderWatch(folder: string, onChange: () => void): FolderWatch {
  let watcher: FSWatcher | undefined;
  let timer: NodeJS.Timeout | undefined;
  let closed = false;

  function stop(): void {
    watcher?.close();
    watcher = undefined;
  }

  function notice(): void {
    clearTimeout(timer);
    if (closed) return;
    timer = setTimeout(onChange, DEBOUNCE_MS);
    timer.unref();
  }

  function start(): FSWatcher | undefined {
    try {
      return watch(folder, { persistent: false }, notice);
    } catch {
      // No such folder yet, or no more watches to be had: looking at use still finds every change.
      return undefined;
    }
  }

  return {
    arm() {
      if (closed || watcher) return;
      watcher = start();
      // Comes when the folder itself is removed.
      watcher?.on("error", stop);
      watcher?.on("rename", stop);
    },
    close() {
      closed = true;
      clearTimeout(timer);
      stop();
    },
  };
}
