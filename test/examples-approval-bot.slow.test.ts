import { randomBytes } from "node:crypto";
import { existsSync, mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { type Client, createClient } from "@cognition/client";
import { afterEach, beforeEach, expect, test } from "vitest";
import { isGenuine } from "../examples/approval-bot/verify-webhook.ts";
import { type RunningCli, startServe } from "../packages/cli/test/cli-process.ts";
import { signWebhook } from "../packages/server/src/webhook/sign-webhook.ts";
import { freePort } from "../testing/free-port.ts";
import { startExample } from "../testing/start-example.ts";
import { createTempDir, type TempDir } from "../testing/temp-dir.ts";

const key = randomBytes(32);
const secret = `whsec_${key.toString("base64")}`;

let dir: TempDir;
let client: Client;
let url: string;
let hook: string;
const running: RunningCli[] = [];
beforeEach(async () => {
  dir = createTempDir();
  mkdirSync(join(dir.path, ".cognition/agents"), { recursive: true });
  const careful = "---\nname: careful\ndescription: Asks.\ninterrupt_on:\n  execute: true\n---\nYou are careful.\n";
  writeFileSync(join(dir.path, ".cognition/agents/careful.md"), careful);
  const env = { COGNITION_WEBHOOKS_SECRETS: secret, COGNITION_WEBHOOKS_ALLOW_ADDRESSES: "127.0.0.1" };
  const served = await startServe(["--quiet"], { cwd: dir.path, env });
  running.push(served);
  url = served.url;
  client = createClient({ baseUrl: url });
  hook = `http://127.0.0.1:${await freePort()}/hook`;
});
afterEach(async () => {
  for (const { child } of running) child.kill("SIGKILL");
  await Promise.all(running.splice(0).map(({ exited }) => exited));
  dir.remove();
});

function startBot(): RunningCli {
  const args = ["--server", url, "--port", new URL(hook).port];
  const bot = startExample("approval-bot/approval-bot.ts", args, { WEBHOOK_SECRET: secret });
  running.push(bot);
  return bot;
}

/** Sends a command, and gives what became of it once the run has ended. */
async function command(text: string): Promise<{ id: string; result: () => Promise<string> }> {
  const { id } = await client.createSession({ agent_name: "careful" });
  const asked = await client.sendMessage(id, `Run the command: ${text}`, { callback_url: hook }).rest();
  expect(asked?.event).toBe("interrupt");
  const result = async () => {
    await expect.poll(async () => (await client.listRuns(id)).runs[0]?.status, { timeout: 120_000 }).toBe("succeeded");
    const { messages } = await client.getMessages(id, { role: "tool" });
    return String(messages[0]?.content);
  };
  return { id, result };
}

test("commands that look are approved, others refused, and who cannot sign is not heard", async () => {
  const bot = startBot();
  await bot.until(/waiting for callbacks/);
  // In whichever order: the run may be done before the bot has said that it approved.
  const said = (line: RegExp) => expect.poll(bot.seen).toMatch(line);
  const looked = await command("echo looked");
  expect(await looked.result()).toContain("looked");
  await said(/approve execute .*echo looked/);
  await said(new RegExp(`session ${looked.id} is done`));

  const forged = await fetch(hook, { method: "POST", body: '{"session_id": "s", "status": "done"}' });
  expect(forged.status).toBe(401);

  const kept = join(dir.path, "kept.txt");
  writeFileSync(kept, "");
  const refused = await command(`rm ${kept}`);
  expect(await refused.result()).toContain("only look");
  expect(existsSync(kept)).toBe(true);
  await said(/reject execute .*rm /);
  await said(new RegExp(`session ${refused.id} is done`));
  expect(bot.seen()).not.toContain("session s ");
});

test("a bot that was down is told later, and decides once", async () => {
  const { id, result } = await command("echo late");
  const waiting = async () => {
    const { deliveries } = await client.listDeliveries({ session_id: id });
    const found = deliveries.find(({ payload }) => payload.status === "waiting");
    if (!found) throw new Error("there is no callback");
    return found;
  };
  await expect.poll(async () => (await waiting()).attempts.length).toBeGreaterThan(0);
  const bot = startBot();
  expect(await result()).toContain("late");
  await expect.poll(async () => (await waiting()).status).toBe("delivered");
  const { id: delivery, attempts } = await waiting();
  expect(attempts.length).toBeGreaterThan(1);
  await client.redeliver(delivery);
  await expect
    .poll(async () => [(await waiting()).status, (await waiting()).attempts.length])
    .toEqual(["delivered", attempts.length + 1]);
  // All that it has said is there once it has ended.
  bot.child.kill("SIGTERM");
  await bot.exited;
  expect(bot.seen().match(/approve execute/g)).toHaveLength(1);
});

test("a server that is away is told in a line, and the callback is taken later", async () => {
  const bot = startBot();
  await bot.until(/waiting for callbacks/);
  running[0]?.child.kill("SIGKILL");
  await running[0]?.exited;
  const body = JSON.stringify({ session_id: "s", status: "waiting" });
  const [id, timestamp] = ["d1", Math.floor(Date.now() / 1000)];
  const headers = {
    "webhook-id": id,
    "webhook-timestamp": String(timestamp),
    "webhook-signature": signWebhook([key], { id, timestamp, body }),
  };
  expect((await fetch(hook, { method: "POST", headers, body })).status).toBe(503);
  await bot.until(/can't be reached/);
  expect(bot.seen()).not.toMatch(/^ +at /m);
});

test("a signature holds for its body, its time and its secret", () => {
  const [id, timestamp, body] = ["d1", 1_800_000_000, "{}"];
  const headers = {
    "webhook-id": id,
    "webhook-timestamp": String(timestamp),
    "webhook-signature": `v1,bm8= ${signWebhook([key], { id, timestamp, body })}`,
  };
  const now = timestamp * 1000;
  expect(isGenuine(secret, headers, body, now)).toBe(true);
  expect(isGenuine(secret, headers, "{ }", now)).toBe(false);
  expect(isGenuine(secret, headers, body, now + 301_000)).toBe(false);
  expect(isGenuine(secret, { ...headers, "webhook-id": "d2" }, body, now)).toBe(false);
  expect(isGenuine(`whsec_${randomBytes(32).toString("base64")}`, headers, body, now)).toBe(false);
  expect(isGenuine(secret, {}, body, now)).toBe(false);
});
