import { setTimeout as delay } from "node:timers/promises";
import { type Client, createClient } from "../../../client/src/index.ts";

/** A node that is stopped takes connections and never answers: after so long the request is sent again, to the next. */
const ANSWER_WITHIN_MS = 4_000;
/** Nodes say something every second. */
const SILENCE_MS = 4_000;
const LONGEST_WAIT_MS = 250;
const ATTEMPTS = 400;

/** A client as anyone has it, that does not give up while nodes come and go. */
export function createPatientClient(baseUrl: string): Client {
  return createClient({
    baseUrl,
    retries: ATTEMPTS,
    maxReconnects: ATTEMPTS,
    idleTimeoutMs: SILENCE_MS,
    wait: async (ms, signal) => {
      await delay(Math.min(ms, LONGEST_WAIT_MS), undefined, signal ? { signal } : {});
    },
    fetch: async (input, init) => {
      const late = new AbortController();
      const timer = setTimeout(() => late.abort(), ANSWER_WITHIN_MS);
      try {
        const signals = [late.signal, ...(init.signal ? [init.signal] : [])];
        return await fetch(input, { ...init, signal: AbortSignal.any(signals) });
      } finally {
        clearTimeout(timer);
      }
    },
  });
}
