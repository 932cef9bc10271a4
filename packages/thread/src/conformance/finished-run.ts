import type { Scope } from "@cognition/contract";
import type { NewDelivery } from "../delivery-store.ts";
import type { Storage } from "../storage.ts";

/** The one way a delivery comes to be: a run ends, and the outbox row is part of its end. */
export async function finishRunWithDelivery(
  storage: Storage,
  delivery: NewDelivery,
  scopes: Scope = {},
): Promise<{ session_id: string; run_id: string }> {
  const { id: session_id } = await storage.createSession({ scopes });
  const { run } = await storage.createRun({ session_id });
  const lease = await storage.claimRun({ owner: "worker", lease_ms: 60_000, session_id });
  if (!lease) throw new Error("the only queued run of a session was not given to the only worker");
  const data = { run_id: run.id, status: "succeeded", assistant_data: null, message_id: null };
  await storage.finishRun(lease, { status: "succeeded", events: [{ event: "done", data }], delivery });
  return { session_id, run_id: run.id };
}
