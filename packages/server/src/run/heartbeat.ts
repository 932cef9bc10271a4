import { AppError } from "@cognition/contract";
import type { Lease, Storage } from "@cognition/thread";

export interface HeartbeatOptions {
  storage: Pick<Storage, "renewLease">;
  lease: Lease;
  lease_ms: number;
  /** When the lease was asked for, by `performance.now()`. */
  since: number;
  onLost: (error: AppError) => void;
  /** Somebody wants the run aborted, perhaps through another node; may be told more than once. */
  onAbort: () => void;
}

/** Three beats fit into a lease, so that one that fails is no harm. */
const BEATS_PER_LEASE = 3;

export interface Heartbeat {
  /** Asks at once how the lease stands: somebody may want the run aborted. */
  look(): void;
  stop(): void;
}

/**
 * Renews the lease until stopped. It is lost when the storage says so, and also when the storage could not be asked for
 * as long as the lease lasts: by then another node may have it.
 */
export function startHeartbeat({ storage, lease, lease_ms, since, onLost, onAbort }: HeartbeatOptions): Heartbeat {
  let validUntil = since + lease_ms;
  let stopped = false;
  let beating: Promise<void> | undefined;

  function lose(error: AppError): void {
    if (stopped) return;
    stop();
    onLost(error);
  }

  async function renew(): Promise<void> {
    const asked = performance.now();
    try {
      const state = await storage.renewLease(lease, lease_ms);
      if (state === "lost") {
        return lose(new AppError("stale_epoch", `Run ${lease.run_id} was taken over by another worker`));
      }
      validUntil = asked + lease_ms;
      if (state === "abort_requested") onAbort();
    } catch (cause) {
      if (performance.now() <= validUntil) return;
      const message = `The lease of run ${lease.run_id} ran out while the storage was away`;
      lose(new AppError("storage_unavailable", message, { cause }));
    }
  }

  async function beat(): Promise<void> {
    if (stopped) return;
    beating ??= renew().finally(() => {
      beating = undefined;
    });
    await beating;
  }

  const timer = setInterval(() => void beat(), lease_ms / BEATS_PER_LEASE);
  function stop(): void {
    stopped = true;
    clearInterval(timer);
  }
  return { stop, look: () => void beat() };
}
