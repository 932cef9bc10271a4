import { randomBytes } from "node:crypto";
import type { Delivery } from "@cognition/contract";
import type { Storage } from "@cognition/thread";
import { Webhook } from "standardwebhooks";
import { afterEach, describe, expect, it } from "vitest";
import { finishRunWithDelivery } from "../../../thread/src/conformance/finished-run.ts";
import { engines } from "../../../thread/test/engines.ts";
import { createGuardedFetch } from "../../src/outgoing/guarded-fetch.ts";
import { nextAttemptMs, retryAfterMs } from "../../src/webhook/retry-schedule.ts";
import { signWebhook } from "../../src/webhook/sign-webhook.ts";
import {
  createWebhookSender,
  type WebhookSender,
  type WebhookSenderOptions,
} from "../../src/webhook/webhook-sender.ts";
import { ok, openReceiver, status } from "./receiver.ts";

const newSecret = () => `whsec_${randomBytes(32).toString("base64")}`;
const secret = newSecret();
const payload = { session_id: "s", status: "done", output: "It's done: 漢 👋 \u2028" };
const LOOPBACK = createGuardedFetch({ allow: ["127.0.0.1"] });

const cleanups: (() => unknown)[] = [];
afterEach(async () => {
  for (const clean of cleanups.splice(0).reverse()) await clean();
});

function startSender(
  storage: Storage,
  options: Partial<WebhookSenderOptions> = {},
): WebhookSender & { errors: unknown[] } {
  const errors: unknown[] = [];
  const sender = createWebhookSender({
    storage,
    fetch: LOOPBACK,
    secrets: [secret],
    pollMs: 20,
    timeoutMs: 30_000,
    random: () => 0,
    onError: (error) => errors.push(error),
    ...options,
  });
  sender.start();
  cleanups.push(() => sender.stop(0));
  return { ...sender, errors };
}

async function owe(storage: Storage, url: string): Promise<string> {
  const { session_id } = await finishRunWithDelivery(storage, { url, payload });
  const [delivery] = await storage.listDeliveries({ session_id });
  return (delivery as Delivery).id;
}

const until = (storage: Storage, id: string) => expect.poll(() => storage.getDelivery(id), { timeout: 50_000 });

describe.each(engines)("the webhook sender on $name", ({ open }) => {
  async function start() {
    const fixture = await open();
    cleanups.push(fixture.dispose);
    return fixture;
  }

  it("sends what a run's end owes, signed as Standard Webhooks, once", async () => {
    const { storage } = await start();
    await using receiver = await openReceiver();
    const id = await owe(storage, receiver.url);
    const { errors } = startSender(storage);
    await until(storage, id).toMatchObject({
      status: "delivered",
      attempts: [{ attempt: 1, status: 204, error: null }],
    });
    const [{ headers, body }] = receiver.received as [{ headers: Record<string, string>; body: string }];
    expect(receiver.received).toHaveLength(1);
    expect(headers["webhook-id"]).toBe(id);
    expect(headers["content-type"]).toBe("application/json");
    expect(new Webhook(secret).verify(body, headers)).toEqual(payload);
    expect(() => new Webhook(newSecret()).verify(body, headers)).toThrow();
    expect(() => new Webhook(secret).verify(body.replace("done", "gone"), headers)).toThrow();
    expect(errors).toEqual([]);
  });

  it("tries again after a failure, under the same id, and says what each attempt came to", async () => {
    const { storage } = await start();
    await using receiver = await openReceiver(
      status(500, { "retry-after": "3600" }), // or the second attempt would come by itself, after five seconds
      (response) => response.destroy(),
      status(302, { location: "/x" }),
      ok,
    );
    const id = await owe(storage, receiver.url);
    startSender(storage);
    for (const attempts of [1, 2, 3]) {
      await until(storage, id).toMatchObject({ status: "pending", attempts: { length: attempts } });
      await storage.redeliver(id); // rather than wait for the next time
    }
    await until(storage, id).toMatchObject({ status: "delivered" });
    const { attempts } = await storage.getDelivery(id);
    expect(attempts.map((each) => each.status)).toEqual([500, null, 302, 204]);
    expect(attempts[2]?.error).toContain("redirects are not followed");
    expect(new Set(receiver.received.map(({ headers }) => headers["webhook-id"]))).toEqual(new Set([id]));
  });

  it("several nodes share the outbox, and each delivery goes out once", async () => {
    const { storage, second } = await start();
    await using receiver = await openReceiver();
    const ids = await Promise.all(Array.from({ length: 20 }, () => owe(storage, receiver.url)));
    const other = second ? await second() : storage;
    for (const node of [storage, other]) startSender(node, { maxSending: 3 });
    for (const id of ids) await until(storage, id).toMatchObject({ status: "delivered" });
    expect(receiver.received.map(({ headers }) => headers["webhook-id"]).sort()).toEqual(ids.sort());
  });
});

describe("a receiver that never answers", () => {
  const [{ open }] = engines as [(typeof engines)[number]];

  it("keeps nobody else waiting, however much it is owed", async () => {
    const { storage, dispose } = await open();
    cleanups.push(dispose);
    await using silent = await openReceiver(() => undefined);
    await using other = await openReceiver();
    for (let n = 0; n < 70; n++) await owe(storage, `${silent.url}?run=${n}`);
    const id = await owe(storage, other.url);
    startSender(storage);
    await expect.poll(() => storage.getDelivery(id), { timeout: 5_000 }).toMatchObject({ status: "delivered" });
    expect(silent.received.length).toBeLessThanOrEqual(16);
  });

  it("is told of the rest once it answers again", async () => {
    const { storage, dispose } = await open();
    cleanups.push(dispose);
    const waiting: (() => void)[] = [];
    let answers = false;
    await using slow = await openReceiver((response) => {
      if (answers) ok(response);
      else waiting.push(() => ok(response));
    });
    const ids: string[] = [];
    for (let n = 0; n < 40; n++) ids.push(await owe(storage, slow.url));
    startSender(storage, { pollMs: 60_000 });
    await expect.poll(() => waiting.length, { timeout: 5_000 }).toBeGreaterThan(8);
    expect(slow.received.length).toBeLessThanOrEqual(16);
    answers = true;
    for (const answer of waiting) answer();
    await expect.poll(() => storage.countDeliveries({ status: "delivered" }), { timeout: 10_000 }).toBe(ids.length);
  });
});

describe("one attempt", () => {
  const [{ open }] = engines as [(typeof engines)[number]];
  async function attempt(url: string, options: Partial<WebhookSenderOptions> = {}): Promise<Delivery> {
    const { storage, dispose } = await open();
    cleanups.push(dispose);
    const id = await owe(storage, url);
    startSender(storage, options);
    await until(storage, id).toMatchObject({ attempts: [{ attempt: 1 }] });
    return storage.getDelivery(id);
  }

  it("to a receiver that is gone (410) is the last", async () => {
    await using receiver = await openReceiver(status(410));
    expect(await attempt(receiver.url)).toMatchObject({ status: "dead", attempts: [{ status: 410 }] });
  });

  it("to one that never answers ends in time", async () => {
    await using receiver = await openReceiver(() => undefined);
    const delivery = await attempt(receiver.url, { timeoutMs: 200 });
    expect(delivery).toMatchObject({ status: "pending", attempts: [{ status: null }] });
    expect(delivery.attempts[0]?.error).toContain("200 ms");
  });

  it("does not wait for the rest of an answer, however long or slow", async () => {
    await using drips = await openReceiver((response) => void response.writeHead(200).write("a"));
    expect(await attempt(drips.url)).toMatchObject({ status: "delivered", attempts: [{ status: 200 }] });
    await using floods = await openReceiver((response) => {
      response.writeHead(200);
      const more = () => void (response.writable && response.write(Buffer.alloc(1 << 20), more));
      more();
    });
    const delivered = await attempt(floods.url);
    expect(delivered).toMatchObject({ status: "delivered" });
  });

  it.each([
    "http://127.0.0.1:9/",
    "http://[::1]:9/",
    "http://169.254.169.254/latest",
    "http://10.0.0.1/",
    "http://internal.example/",
  ])("to %s sends nothing and is the last", async (url) => {
    const lookup = async () => [{ address: "192.168.1.1", family: 4 }];
    const delivery = await attempt(url, { fetch: createGuardedFetch({ lookup }) });
    expect(delivery).toMatchObject({ status: "dead", attempts: [{ status: null }] });
    expect(delivery.attempts[0]?.error).toContain("not a public address");
  });

  it("goes to the address that was checked, whatever the name stands for afterwards", async () => {
    await using receiver = await openReceiver();
    let asked = 0;
    const lookup = async () => [{ address: ++asked === 1 ? "127.0.0.1" : "10.0.0.1", family: 4 }];
    const fetch = createGuardedFetch({ lookup, allow: ["127.0.0.1"] });
    const delivery = await attempt(`http://moves.example:${receiver.port}/hook`, { fetch });
    expect(delivery.status).toBe("delivered");
    expect([asked, receiver.received[0]?.headers.host]).toEqual([1, `moves.example:${receiver.port}`]);
  });

  it("waits as long as the receiver asks", async () => {
    await using receiver = await openReceiver(status(429, { "retry-after": "3600" }));
    const { attempts, next_attempt_at } = await attempt(receiver.url);
    const wait = Date.parse(next_attempt_at ?? "") - Date.parse(attempts[0]?.at ?? "");
    expect(wait / 3_600_000).toBeCloseTo(1, 2);
  });
});

describe("the schedule", () => {
  it("goes over hours, then gives up", () => {
    const waits = Array.from({ length: 10 }, (_, n) => nextAttemptMs(n + 1, () => 0));
    expect(waits.at(-1)).toBeUndefined();
    const known = waits.filter((wait) => wait !== undefined);
    expect(known).toEqual(known.toSorted((a, b) => a - b));
    const hours = known.reduce((sum, wait) => sum + wait) / 3_600_000;
    expect(hours).toBeGreaterThan(12);
  });

  it("spreads what failed together, and takes no absurd wish", () => {
    expect(nextAttemptMs(1, () => 1)).toBe(6_000);
    expect(nextAttemptMs(1, () => 0, 1e15)).toBe(8 * 3_600_000);
    expect(retryAfterMs("Thu, 01 Jan 1970 00:00:10 GMT", 4_000)).toBe(6_000);
    expect(retryAfterMs("soon", 0)).toBe(0);
  });
});

describe("secrets", () => {
  it("old and new sign side by side, so that a receiver may know either", async () => {
    const secrets = [newSecret(), newSecret()];
    const [old, fresh] = secrets.map((each) => Buffer.from(each.slice("whsec_".length), "base64")) as [Buffer, Buffer];
    const timestamp = Math.floor(Date.now() / 1000);
    const signature = signWebhook([old, fresh], { id: "msg", timestamp, body: "{}" });
    const headers = { "webhook-id": "msg", "webhook-timestamp": `${timestamp}`, "webhook-signature": signature };
    for (const each of secrets) expect(new Webhook(each).verify("{}", headers)).toEqual({});
  });

  it.each(["whsec_short", "whsec_!!!!", "a b", ""])("that can't be one (%j) stop the start", (bad) => {
    const make = () =>
      createWebhookSender({ storage: {} as Storage, fetch: LOOPBACK, secrets: [bad], onError: () => undefined });
    expect(make).toThrow(expect.objectContaining({ code: "invalid_config" }));
  });
});
