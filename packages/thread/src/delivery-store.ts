import type { Delivery, Scope } from "@cognition/contract";

export interface NewDelivery {
  url: string;
  payload: unknown;
}

export interface DeliveryFilter {
  scope?: Scope;
  status?: Delivery["status"];
  session_id?: string;
}

export interface DeliveryStore {
  getDelivery(delivery_id: string, scope?: Scope): Promise<Delivery>;
  /** Newest first. */
  listDeliveries(filter?: DeliveryFilter & { limit?: number; offset?: number; before?: string }): Promise<Delivery[]>;
  countDeliveries(filter?: DeliveryFilter): Promise<number>;
  /**
   * Due ones, each to one caller until the lease runs out; at least once, never lost. None to a receiver in `except`, each
   * a scheme and a host as their addresses write them. Damaged ones are passed over, and told as `corrupt_data` where there
   * is no other.
   */
  claimDeliveries(claim: { limit: number; lease_ms: number; except?: readonly string[] }): Promise<Delivery[]>;
  /**
   * `next_attempt_ms` from now; without it a failure is final (dead letter). The last attempt of one whose session is
   * deleted removes it.
   */
  recordAttempt(
    delivery_id: string,
    attempt: {
      status_code: number | null;
      error: string | null;
      ok: boolean;
      next_attempt_ms?: number;
      duration_ms?: number;
    },
  ): Promise<Delivery>;
  /** Makes it due again, whatever became of it. */
  redeliver(delivery_id: string, scope?: Scope): Promise<Delivery>;
  /**
   * Removes those that were made before the time and are done, delivered or dead; not one that was delivered since. Gives
   * how many. The signal ends it early.
   */
  pruneDeliveries(before: Date, options?: { signal?: AbortSignal }): Promise<number>;
}
