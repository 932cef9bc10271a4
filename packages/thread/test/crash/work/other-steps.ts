import { BudgetLimit, isAppError } from "@cognition/contract";
import { encodeTree, hashBlob, hashTree } from "../../../src/snapshot/tree.ts";
import { converse, openSession } from "./session-steps.ts";
import { hashOf, type Work } from "./work.ts";

/** Marks sessions whose count was changed on its own, as the port allows. */
export const UNCOUNTED = "counter";

export async function notes(work: Work): Promise<void> {
  const { storage, ledger, next, newId } = work;
  const { session_id } = await openSession(work);
  for (const role of ["user", "assistant"] as const) {
    const message_id = newId();
    const content = `${role} ${next()}`;
    await storage.createMessage({ id: message_id, session_id, role, content });
    ledger.write({ t: "message", session_id, message_id, hash: hashOf(content) });
  }
  const n = next();
  await storage.updateSession(session_id, { title: `${n}`, config: { temperature: 0.5 }, metadata: { n: `${n}` } });
  ledger.write({ t: "title", session_id, n });
  const other = await storage.createSession({ metadata: { by: UNCOUNTED } });
  await storage.updateMessageCount(other.id, 3);
  await storage.deleteSession(other.id);
}

export async function files(work: Work): Promise<void> {
  const { storage, ledger, next } = work;
  const { artifacts } = storage;
  const { session_id } = await openSession(work);
  const reader = { session_id };
  const content = `first ${next()}`;
  const { id } = await artifacts.createArtifact({ session_id, name: "report", artifact_type: "artifact", content });
  ledger.write({ t: "artifact", session_id, id, version: 1, hash: hashOf(content) });
  for (const version of [2, 3]) {
    const bytes = new Uint8Array([0, version, next() % 256]);
    const stored = await artifacts.updateArtifact(id, { content: bytes }, reader);
    ledger.write({ t: "artifact", session_id, id, version: stored.version, hash: hashOf(bytes) });
  }
  const gone = await artifacts.createArtifact({ session_id, name: "gone", artifact_type: "artifact", content });
  await artifacts.deleteArtifact(gone.id, reader);
  await workspace(work, session_id);
}

async function workspace({ storage, next }: Work, session_id: string): Promise<void> {
  const { snapshots } = storage;
  const { thread_id = "" } = (await storage.getSession(session_id)) ?? {};
  const held = Buffer.from(`${next()}`);
  const root = encodeTree([{ name: "n", type: "file", mode: 0o644, hash: hashBlob(held) }]);
  const objects = [hashBlob(held), hashTree(root)];
  const bytes = await snapshots.putObjects({}, [
    { hash: hashBlob(held), kind: "blob", content: held },
    { hash: hashTree(root), kind: "tree", content: root },
  ]);
  await snapshots.saveSnapshot({ thread_id, snapshot_id: hashTree(root), objects, bytes });
  await snapshots.sweepSnapshots({ scope: {} });
}

/** Two items that are only ever written together, so that half of a batch would show. */
export async function memories({ store, ledger, next, newId }: Work): Promise<void> {
  const pair = newId();
  for (let round = 0; round < 3; round++) {
    const n = next();
    const item = (key: string) => ({ namespace: ["pairs", pair], key, value: { n } });
    ledger.write({ t: "will_put", pair, n });
    await store.batch([item("a"), item("b")]);
    ledger.write({ t: "put", pair, n });
  }
  await store.put(["fleeting"], pair, { n: 0 }, undefined, { ttl: 1 });
  await store.get(["fleeting"], pair);
  await store.delete(["fleeting"], pair);
  await store.put(["fleeting"], pair, { n: 1 }, undefined, { ttl: 1e-5 });
  await store.sweepExpired();
}

export async function keys({ storage, ledger, newId }: Work): Promise<void> {
  const key = newId();
  const body_hash = hashOf(key);
  await storage.claimIdempotencyKey({ key, body_hash });
  await storage.saveIdempotentResponse({ key, response: key });
  ledger.write({ t: "key", key, body_hash, response: key });
  const other = newId();
  await storage.claimIdempotencyKey({ key: other, body_hash });
  await storage.renewIdempotencyKey({ key: other, ttl_ms: 60_000 });
  await storage.releaseIdempotencyKey({ key: other });
  await storage.claimIdempotencyKey({ key: other, body_hash, ttl_ms: 0 });
  await storage.pruneIdempotencyKeys();
  await accessKeys(storage, key);
}

async function accessKeys({ apiKeys, rateLimits, breakers }: Work["storage"], prefix: string): Promise<void> {
  const unbound = { scope: null, admin: false, expires_at: null };
  const { id } = await apiKeys.createApiKey({ ...unbound, prefix, hash: hashOf(prefix), name: "crash" });
  await apiKeys.touchApiKey(id);
  await apiKeys.revokeApiKey(id);
  await rateLimits.takeRequest({ user: prefix }, { per_second: 1000, burst: 1 });
  await rateLimits.pruneRateLimits();
  await breakers.openBreaker({ name: prefix, scope: {}, failures: 1, open_ms: 60_000 });
  await breakers.closeBreaker({ name: prefix, scope: {} });
}

export async function outbox(work: Work): Promise<void> {
  const { storage, ledger } = work;
  await converse(work, await openSession(work), "plain");
  for (const { id, session_id } of await storage.claimDeliveries({ limit: 2, lease_ms: 60_000 })) {
    await deliver(id, session_id).catch((error: unknown) => {
      // Of a session that is deleted, or that another process deletes meanwhile: it goes once it is done.
      if (!isAppError(error, "delivery_not_found")) throw error;
    });
  }
  await storage.pruneDeliveries(new Date(0));

  async function deliver(delivery_id: string, session_id: string): Promise<void> {
    await storage.recordAttempt(delivery_id, { status_code: 503, error: "busy", ok: false, next_attempt_ms: 0 });
    const { attempts } = await storage.recordAttempt(delivery_id, { status_code: 200, error: null, ok: true });
    ledger.write({ t: "attempts", session_id, delivery_id, count: attempts.length });
    await storage.redeliver(delivery_id);
    await storage.recordAttempt(delivery_id, { status_code: 200, error: null, ok: true });
  }
}

export async function folding(work: Work): Promise<void> {
  await converse(work, await openSession(work), "plain");
  await work.storage.compactEvents(new Date());
}

export async function spending({ storage, newId }: Work): Promise<void> {
  const scope = { user: newId() };
  const [budget] = await storage.budgets.putBudgets(scope, [BudgetLimit.parse({ period: "total", max_tokens: 100 })]);
  const counts = [{ budget_id: budget?.id ?? "", stretch: "" }];
  const call = { run_id: "r", counts, tokens: 10, cost: 0, steps: 1, tool_calls: 0, seconds: 0, ttl_ms: 60_000 };
  const answer = await storage.budgets.reserve(call);
  const reservation = answer.ok ? answer.reservation : null;
  await storage.budgets.settle({ reservation, counts, tokens: 7, cost: 0, seconds: 1 });
  await storage.budgets.giveBack("r");
  await storage.budgets.pruneBudgetUsage(new Date());
}

/** Each definition and its count change together; the next step's compare-and-set would show half of one. */
export async function definitions({ storage, newId }: Work): Promise<void> {
  const name = newId();
  for (const store of [storage.agents, storage.providers]) {
    await store.putDefinition({ name, scope: {}, definition: { name }, hash: "1" }, null);
    await store.putDefinition({ name, scope: {}, definition: { name }, hash: "2" }, "1");
    await store.deleteDefinition(name, {});
  }
  await storage.revisions.saveRevision({ revision: name, scope: {}, agent: { name } });
}
