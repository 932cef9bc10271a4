import { Worker } from "node:worker_threads";
import { AppError } from "@cognition/contract";
import type { Page, PageFormat } from "./page-text.ts";

const TIMEOUT_MS = 10_000;
const MAX_HEAP_MB = 256;

// Beside this file, as source and as what is built from it.
const WORKER = new URL(import.meta.url.endsWith(".ts") ? "./page-worker.ts" : "./page-worker.js", import.meta.url);

/**
 * Reads a page in a thread of its own. A stranger wrote it: some pages of a few hundred kilobytes take minutes, during
 * which no other run of this process would move.
 */
export async function convertPage(
  page: { html: string; url: string; format: PageFormat },
  { signal, timeoutMs = TIMEOUT_MS }: { signal: AbortSignal; timeoutMs?: number },
): Promise<Page> {
  signal.throwIfAborted();
  const worker = new Worker(WORKER, { workerData: page, resourceLimits: { maxOldGenerationSizeMb: MAX_HEAP_MB } });
  const { promise, resolve, reject } = Promise.withResolvers<Page>();
  const abort = () => reject(signal.reason);
  const tooLong = () => reject(unreadable(page.url, `it took longer than ${timeoutMs} ms`));
  const timer = setTimeout(tooLong, timeoutMs);
  signal.addEventListener("abort", abort, { once: true });
  worker.once("message", resolve);
  worker.once("error", (error) => reject(unreadable(page.url, error.message, error)));
  try {
    return await promise;
  } finally {
    clearTimeout(timer);
    signal.removeEventListener("abort", abort);
    await worker.terminate();
  }
}

function unreadable(url: string, reason: string, cause?: unknown): AppError {
  const message = `${url} was fetched, but could not be turned into text (${reason}). The format html gives it as it is.`;
  return new AppError("tool_failed", message, { cause });
}
