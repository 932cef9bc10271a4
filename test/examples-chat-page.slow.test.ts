import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { createClient } from "@cognition/client";
import type { Browser, Page } from "playwright-core";
import { afterAll, afterEach, beforeEach, describe, expect, test } from "vitest";
import { type RunningCli, startServe } from "../packages/cli/test/cli-process.ts";
import { openBrowser } from "../testing/browser.ts";
import { startExample } from "../testing/start-example.ts";
import { createTempDir, type TempDir } from "../testing/temp-dir.ts";

const found = await openBrowser();
const browser = "missing" in found ? undefined : found;
afterAll(() => browser?.close());

let dir: TempDir;
let page: Page;
let faults: string[];
let server: { url: string; origin: string };
const running: RunningCli[] = [];

async function serve(port: string, more: Record<string, string> = {}): Promise<void> {
  const env = { COGNITION_CORS_ORIGINS: server.origin, COGNITION_SSE_RETRY_INTERVAL: "200", ...more };
  const served = await startServe(["--quiet", "--port", port], { cwd: dir.path, env });
  running.push(served);
  server.url = served.url;
}

async function kill({ child, exited }: RunningCli): Promise<void> {
  child.kill("SIGKILL");
  await exited;
}

/** Skipped only where no browser can be had, which openBrowser says aloud and refuses in CI. */
describe.skipIf(!browser)("the chat page, in a browser", () => {
  beforeEach(async () => {
    dir = createTempDir();
    mkdirSync(join(dir.path, ".cognition/agents"), { recursive: true });
    const careful = "---\nname: careful\ndescription: Asks.\ninterrupt_on:\n  execute: true\n---\nYou are careful.\n";
    writeFileSync(join(dir.path, ".cognition/agents/careful.md"), careful);
    const strict = careful.replace("careful", "strict").replace("true", "{allowed_decisions: [edit, reject]}");
    writeFileSync(join(dir.path, ".cognition/agents/strict.md"), strict);
    const pages = startExample("chat-page/serve-page.ts", ["--port", "0"]);
    running.push(pages);
    await pages.until(/chat page is on \S+\n/);
    server = { url: "", origin: /http\S+/.exec(pages.seen())?.[0] ?? "" };
    await serve("0");
    page = await (browser as Browser).newPage();
    faults = [];
    page.on("pageerror", (error) => faults.push(error.message));
  });
  afterEach(async () => {
    await page.close();
    await Promise.all(running.splice(0).map(kill));
    dir.remove();
  });

  const open = async (session_id = "") => {
    // Another query is another document: an address that differs in its hash alone would not load anew.
    const nonce = crypto.randomUUID();
    await page.goto(`${server.origin}/?server=${encodeURIComponent(server.url)}&v=${nonce}#${session_id}`);
  };
  const send = async (text: string) => {
    await page.fill("#text", text);
    await page.click("button[type=submit]");
  };
  const state = (text: string) =>
    expect.poll(() => page.textContent("#state"), { timeout: 120_000, interval: 50 }).toBe(text);
  const texts = (kind: string) => page.locator(`.${kind}`).allTextContents();

  test("a message streams, its tools are seen, and a reload shows the same", async () => {
    await open();
    await page.waitForSelector("[data-ready]");
    await send('Create a file named <b>notes.txt</b> containing exactly the word hello, then say "<i>done</i>"');
    await state("succeeded");
    const before = [await texts("user"), await texts("tool"), await texts("assistant")];
    expect(before[1]?.[0]).toMatch(/^write_file \{/);
    expect(before[2]).toHaveLength(1);
    expect(await page.locator("#log b, #log i").count()).toBe(0);
    await page.reload();
    await page.waitForSelector("[data-ready]");
    expect([await texts("user"), await texts("tool"), await texts("assistant")]).toEqual(before);
    expect(faults).toEqual([]);
  });

  test("an approval is asked, also after a reload, and answered", async () => {
    const client = createClient({ baseUrl: server.url });
    const { id } = await client.createSession({ agent_name: "careful" });
    await open(id);
    await page.waitForSelector("[data-ready]");
    await send("Run the command: echo approved");
    await state("waiting for you");
    await page.reload();
    await state("waiting for you");
    await page.click(".question button:text('approve')");
    await state("succeeded");
    expect((await texts("tool")).at(-1)).toContain("approved");
    expect(faults).toEqual([]);
  });

  test("only what the agent lets be decided is offered", async () => {
    const client = createClient({ baseUrl: server.url });
    const { id } = await client.createSession({ agent_name: "strict" });
    await open(id);
    await page.waitForSelector("[data-ready]");
    await send("Run the command: echo refused");
    await state("waiting for you");
    expect(await page.locator(".question button").allTextContents()).toEqual(["reject"]);
    await page.click(".question button");
    await state("succeeded");
    expect(faults).toEqual([]);
  });

  test("a server that is killed in the middle of an answer goes on with it, each word once", async () => {
    const client = createClient({ baseUrl: server.url });
    const { id } = await client.createSession();
    await open(id);
    await page.waitForSelector("[data-ready]");
    await send("Slowly say: one two three four five six seven eight nine ten eleven twelve");
    await expect
      .poll(async () => (await texts("assistant")).join(), { timeout: 120_000, interval: 20 })
      .toMatch(/\w \w/);
    await kill(running[1] as RunningCli);
    await serve(new URL(server.url).port);
    await state("succeeded");
    const { messages } = await client.getMessages(id);
    expect(await texts("assistant")).toEqual([messages[0]?.content]);
    expect(faults).toEqual([]);
  });

  test("Stop stops the run and keeps what was said", async () => {
    await open();
    await page.waitForSelector("[data-ready]");
    await send("Run the command: sleep 60");
    await expect.poll(() => texts("tool"), { timeout: 120_000, interval: 20 }).toHaveLength(1);
    await page.click("#stop");
    await state("aborted");
    await send("Say that you are back");
    await state("succeeded");
    expect(faults).toEqual([]);
  });

  const cannotBegin = async (reason: RegExp) => {
    await expect.poll(() => page.textContent("#state"), { timeout: 120_000, interval: 50 }).toMatch(reason);
    // What is typed now would have nowhere to go.
    expect(await page.isDisabled("button[type=submit]")).toBe(true);
    expect(faults).toEqual([]);
  };

  test("a server that is away is named, and what to look at", async () => {
    await kill(running[1] as RunningCli);
    await open();
    await cannotBegin(
      new RegExp(`^server_unreachable: ${server.url}.* running.*COGNITION_CORS_ORIGINS=${server.origin}`),
    );
  });

  test("a server that does not know the page's origin is no server that says nothing", async () => {
    await serve("0", { COGNITION_CORS_ORIGINS: "http://127.0.0.1:1" });
    await open();
    await cannotBegin(new RegExp(`COGNITION_CORS_ORIGINS=${server.origin}`));
  });

  test.each([
    ["wants a key", { COGNITION_AUTH_MODE: "api_key" }, /^unauthorized: .*apiKey/],
    ["wants to know for whom", { COGNITION_SCOPING_ENABLED: "true" }, /^scope_required: .*X-Cognition-Scope-User/],
    [
      "takes no more requests",
      { COGNITION_RATE_LIMIT_PER_SECOND: "0.01", COGNITION_RATE_LIMIT_BURST: "1" },
      /^rate_limited: /,
    ],
  ])("a server that %s says so on the page", async (_, env, reason) => {
    await serve("0", env);
    await open();
    await cannotBegin(reason);
  });

  test("a conversation that is not there is said, and how to begin another", async () => {
    await open(crypto.randomUUID());
    await cannotBegin(/^session_not_found: .*address/);
  });

  test("an address of a server that is none is said", async () => {
    server.url = "localhost:8000";
    await open();
    await cannotBegin(/^validation_failed: .*http:\/\//);
  });
});
