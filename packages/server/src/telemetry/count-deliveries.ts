import type { Storage } from "@cognition/thread";
import type { Metrics } from "./metrics.ts";

/** The same storage; every attempt that is recorded in it is counted. */
export function countDeliveries(storage: Storage, metrics: Pick<Metrics, "delivery">): Storage {
  return {
    ...storage,
    recordAttempt: (delivery_id, attempt) => {
      metrics.delivery(attempt.ok ? "delivered" : "failed");
      return storage.recordAttempt(delivery_id, attempt);
    },
  };
}
