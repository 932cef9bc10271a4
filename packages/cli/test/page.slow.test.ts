import { mkdirSync, writeFileSync } from "node:fs";
import { createServer, request } from "node:http";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import { createClient } from "@cognition/client";
import { type StartServerOptions, startServer } from "@cognition/server";
import { openStorage } from "@cognition/thread";
import { AIMessage } from "@langchain/core/messages";
import { interrupt, MessagesAnnotation, START, StateGraph } from "@langchain/langgraph";
import type { Browser, Page } from "playwright-core";
import { afterAll, afterEach, beforeEach, describe, expect, onTestFinished, test } from "vitest";
import { openBrowser } from "../../../testing/browser.ts";
import { createTempDir, type TempDir } from "../../../testing/temp-dir.ts";
import { openai } from "../../server/test/model/openai-server.ts";
import { says, scriptedProvider } from "../../server/test/runtime/scripted-provider.ts";
import { loadPage } from "../src/load-page.ts";
import { runCli, type Served, startServe } from "./cli-process.ts";

const found = await openBrowser();
const browser = "missing" in found ? undefined : found;
afterAll(() => browser?.close());

const CAREFUL = "---\nname: careful\ndescription: Asks.\ninterrupt_on:\n  execute: true\n---\nYou are careful.\n";
const WITHIN = { timeout: 120_000, interval: 20 };

let dir: TempDir;
let page: Page;
let faults: string[];
let served: Served;
const running: Served[] = [];

async function serve(env: Record<string, string> = {}, port = "0"): Promise<void> {
  const settings = { COGNITION_SSE_RETRY_INTERVAL: "200", ...env };
  served = await startServe(["--quiet", "--port", port], { cwd: dir.path, env: settings });
  running.push(served);
}

async function kill({ child, exited }: Served): Promise<void> {
  child.kill("SIGKILL");
  await exited;
}

async function openPage(): Promise<Page> {
  const opened = await (browser as Browser).newPage();
  opened.setDefaultTimeout(WITHIN.timeout);
  opened.on("pageerror", (error) => faults.push(error.message));
  // What the policy forbids is told there.
  opened.on("console", (message) => {
    if (/Content Security Policy|Trusted/.test(message.text())) faults.push(message.text());
  });
  return opened;
}

/** Has the server below a path of its own. */
async function startProxy(path: string): Promise<{ url: string; close(): void }> {
  const proxy = createServer((asked, response) => {
    const { method, headers, url = "" } = asked;
    const passed = request(served.url + url.slice(path.length), { method, headers }, (answer) => {
      response.writeHead(answer.statusCode ?? 502, answer.headers);
      answer.pipe(response);
    });
    asked.pipe(passed.on("error", () => response.destroy()));
  });
  await new Promise<void>((resolve) => proxy.listen(0, "127.0.0.1", resolve));
  const close = () => {
    proxy.close();
    proxy.closeAllConnections();
  };
  return { url: `http://127.0.0.1:${(proxy.address() as AddressInfo).port}${path}/`, close };
}

/** Skipped only where no browser can be had, which openBrowser says aloud and refuses in CI. */
describe.skipIf(!browser)("the page at /, in a browser", () => {
  beforeEach(async () => {
    dir = createTempDir();
    mkdirSync(join(dir.path, ".cognition/agents"), { recursive: true });
    writeFileSync(join(dir.path, ".cognition/agents/careful.md"), CAREFUL);
    faults = [];
    page = await openPage();
  });
  afterEach(async () => {
    await page.close();
    await Promise.all(running.splice(0).map(kill));
    dir.remove();
    expect(faults).toEqual([]);
  });

  /** In this process, with what no file of a workspace gives; its address. */
  const startHere = async (more: Partial<StartServerOptions>) => {
    const storage = await openStorage("memory");
    const onError = (error: unknown) => void faults.push(String(error));
    const own = { storage, workspace_root: dir.path, env: {}, port: 0, page: loadPage, onError };
    const server = await startServer({ ...own, ...more });
    onTestFinished(async () => {
      await server.close(0);
      await storage.close();
    });
    return server.url;
  };
  const begin = async (agent?: string, url = served.url) => {
    await page.goto(url);
    await page.waitForSelector("#agents:not([hidden])");
    if (agent !== undefined) await page.selectOption("#agent", agent);
  };
  const send = async (text: string) => {
    await page.fill("#text", text);
    await page.press("#text", "Enter");
  };
  const state = (text: string | RegExp, on = page) =>
    expect
      .poll(() => on.textContent("#state"), WITHIN)
      .toMatch(text instanceof RegExp ? text : new RegExp(`^${text}$`));
  const texts = (selector: string, on = page) => on.locator(selector).allTextContents();
  const eventually = (selector: string, on = page) =>
    expect.poll(async () => (await texts(selector, on)).join("\n"), WITHIN);
  /** At rest: what the run used stands below its answer. */
  const answered = async (on = page) => {
    await eventually("#log .note", on).toMatch(/tokens in/);
    await state("", on);
  };
  const sessionId = () => new URL(page.url()).hash.slice(1);
  const stored = async () => {
    const { messages } = await createClient({ baseUrl: served.url }).getMessages(sessionId());
    return messages;
  };

  test("a message streams, its tools are folded, and a reload shows the same; nothing of it is markup", async () => {
    await serve();
    await begin();
    const evil = "<img src=x onerror=alert(1)>";
    await send(`Create a file named notes.txt containing exactly "${evil}", then read notes.txt, then say "${evil}"`);
    await answered();
    const shown = async () => [
      await texts(".user"),
      await texts(".tool code"),
      await texts(".output"),
      await texts(".assistant"),
    ];
    const before = await shown();
    expect(before[1]).toEqual([expect.stringMatching(/^write_file /), expect.stringMatching(/^read_file /)]);
    expect(before[2]?.[1]).toContain(evil);
    expect(before[3]).toEqual([expect.stringContaining(evil)]);
    expect(await page.locator(".tool[open]").count()).toBe(0);
    await page.click(".tool summary");
    expect(await page.locator(".tool[open] .args").first().isVisible()).toBe(true);
    await expect.poll(() => texts("#list a")).toEqual([expect.stringMatching(/^Create a file/)]);
    await page.reload();
    await answered();
    expect(await shown()).toEqual(before);
    expect(await page.locator("img, #log script, #list img").count()).toBe(0);
  });

  test("words come one by one, and a reload in their middle goes on with them", async () => {
    await serve();
    await begin();
    await send("Slowly say: one two three four five six seven eight nine ten eleven twelve");
    await eventually(".assistant").toMatch(/\w \w/);
    expect(await page.isVisible("#stop")).toBe(true);
    await page.reload();
    const bubble = page.locator(".assistant");
    await bubble.filter({ hasText: /\w/ }).waitFor();
    const first = (await bubble.textContent()) ?? "";
    await answered();
    const [answer] = await stored();
    expect(await texts(".assistant")).toEqual([answer?.content]);
    // From its beginning, though that was said before.
    expect(answer?.content).toMatch(new RegExp(`^${first}`));
    expect(await texts(".user")).toHaveLength(1);
  });

  test("a server that is killed is waited for: the answer is whole, once, and what was sent meanwhile is answered, too", async () => {
    await serve();
    await begin();
    await send("Slowly say: one two three four five six seven eight nine ten eleven twelve");
    await eventually(".assistant").toMatch(/\w \w/);
    await kill(served);
    await state(/connection is lost/);
    await send("Say that you are back");
    expect(await texts(".pending")).toEqual(["Say that you are back"]);
    await serve({}, new URL(served.url).port);
    await expect.poll(() => texts(".note"), WITHIN).toHaveLength(2);
    await state("");
    const answers = (await stored()).toReversed().map(({ content }) => content);
    expect(await texts(".bubble")).toEqual(expect.arrayContaining(answers as string[]));
    expect(await texts(".user")).toEqual([answers[0], "Say that you are back"]);
    expect(await texts(".assistant")).toHaveLength(2);
  });

  test("what is sent while the server is away is all seen, and arrives in the order in which it was written", async () => {
    await serve();
    await begin();
    await send("say zero");
    await answered();
    const refused: (string | null)[] = [];
    await page.route("**/messages", async (route) => {
      if (route.request().method() !== "POST") return route.continue();
      refused.push(route.request().postData());
      await route.abort();
    });
    await send("say one");
    // After this the next attempt takes longer than two of a later message.
    await expect.poll(() => refused.length, WITHIN).toBe(3);
    await send("say two");
    await send("say three");
    expect(await texts(".pending")).toEqual(["say one", "say two", "say three"]);
    await page.unroute("**/messages");
    await expect.poll(() => texts(".note"), WITHIN).toHaveLength(4);
    await state("");
    const said = (await stored()).filter(({ role }) => role === "user").map(({ content }) => content);
    expect(said.toReversed()).toEqual(["say zero", "say one", "say two", "say three"]);
    expect(await texts(".user")).toEqual(said.toReversed());
    expect(await texts(".pending")).toEqual([]);
  });

  test("of several messages that are refused each is there to be sent again", async () => {
    await serve();
    await begin("careful");
    await send("Run the command: ls");
    await state("waiting for you");
    const held = Promise.withResolvers<void>();
    await page.route("**/messages", (route) => held.promise.then(() => route.continue()));
    await send("say one");
    await send("say two");
    held.resolve();
    await expect.poll(() => page.inputValue("#text"), WITHIN).toBe("say one\nsay two");
    await page.click("#approvals button.main");
    await answered();
    expect(await texts(".user")).toEqual(["Run the command: ls"]);
  });

  test("asks for what needs a person, with all of it, also after a reload; and takes each answer", async () => {
    await serve();
    await begin("careful");
    await send("Run the command: echo approved");
    await state("waiting for you");
    await page.reload();
    await state("waiting for you");
    expect(await texts("fieldset legend")).toEqual(["The agent wants to use execute"]);
    expect(await texts("fieldset dd")).toEqual(["echo approved"]);
    await page.focus("fieldset button:text-is('Approve')");
    await page.keyboard.press("Enter");
    await answered();
    expect((await texts(".output")).at(-1)).toContain("approved");
    expect(await texts("fieldset")).toEqual([]);
    // The button is gone: whoever works by keyboard would be back at the page's beginning.
    expect(await page.evaluate("document.activeElement.id")).toBe("text");

    await send("Run the command: echo first");
    await page.click("fieldset summary");
    await page.fill("fieldset textarea", "no JSON");
    await page.click("fieldset button:text-is('Approve as changed')");
    expect(await texts("fieldset legend")).toHaveLength(1);
    await page.fill("fieldset textarea", '{"command": "echo changed"}');
    await page.click("fieldset button:text-is('Approve as changed')");
    await eventually(".output").toContain("changed");
    await state("");

    await send("Run the command: echo second");
    await page.fill("fieldset input", "not today");
    await page.click("fieldset button:text-is('Reject')");
    await eventually(".output").toContain("not today");
    await state("");

    await send("Run the command: echo third");
    await page.fill("fieldset input", "it said third");
    await page.click("fieldset button:text-is('Respond')");
    await eventually(".output").toContain("it said third");
    await state("");
  });

  test("a command that would read otherwise than it runs is shown as it is", async () => {
    await serve();
    await begin("careful");
    await send("Run the command: echo a\u202eb\u200bc");
    await state("waiting for you");
    expect(await texts("fieldset dd")).toEqual(["echo a\\u202eb\\u200bc"]);
  });

  test("long arguments are there to the last line, above the buttons that allow them", async () => {
    await serve();
    await begin("careful");
    const command = `echo ${Array.from({ length: 300 }, (_, line) => `"line ${line}"`).join(" ")}`;
    await send(`Run the command: ${command}`);
    await state("waiting for you");
    expect(await texts("fieldset dd")).toEqual([command]);
    const scrolls = await page.locator("fieldset pre").evaluate((pre) => pre.scrollHeight - pre.clientHeight);
    expect(scrolls).toBe(0);
    await page.locator("button:text-is('Approve')").scrollIntoViewIfNeeded();
    const [last, approve] = await Promise.all(
      ["fieldset pre", "button:text-is('Approve')"].map((each) => page.locator(each).boundingBox()),
    );
    expect((last?.y ?? 0) + (last?.height ?? 0)).toBeLessThanOrEqual(approve?.y ?? 0);
  });

  test("several questions are answered together, each in the words of who is asked", async () => {
    const asks = (name: string) => () => ({ messages: [new AIMessage(`${name}: ${interrupt(`Pay ${name}?`)}`)] });
    const payer = new StateGraph(MessagesAnnotation)
      .addNode("ann", asks("Ann"))
      .addNode("bob", asks("Bob"))
      .addEdge(START, "ann")
      .addEdge(START, "bob")
      .compile();
    await begin("payer", await startHere({ graphs: { payer } }));
    await send("Go");
    await state("waiting for you");
    expect(await texts("fieldset dd")).toEqual(["Pay Ann?", "Pay Bob?"]);
    await page.locator("fieldset input").first().fill("yes");
    await page.locator("button:text-is('Respond')").first().click();
    expect(await page.locator("fieldset:disabled").count()).toBe(1);
    await page.locator("fieldset input").last().fill("no");
    await page.locator("button:text-is('Respond')").last().click();
    await eventually(".assistant").toBe("Ann: yes\nBob: no");
    await state("");
  });

  test("long conversations are shown from their end, with a way back, and have a name without a title", async () => {
    await serve();
    const client = createClient({ baseUrl: served.url });
    const { id } = await client.createSession();
    for (let n = 0; n < 52; n++) await client.sendMessage(id, `Say word${n}`).rest();
    await page.goto(`${served.url}/#${id}`);
    await answered();
    expect((await texts(".user"))[0]).toBe("Say word2");
    await page.click("#earlier");
    await eventually(".user").toMatch(/^Say word0\nSay word1\nSay word2\n/);
    expect(await texts(".user")).toHaveLength(52);
    expect(await page.isVisible("#earlier")).toBe(false);
    await expect.poll(() => texts("#list a")).toEqual(["Say word0"]);
    await client.rewindSession(id, { last: "turn" });
    await expect.poll(async () => (await texts(".user")).at(-1), WITHIN).toBe("Say word50");
  });

  test("the end stays in sight while more is said; whoever reads further up is left there until he says something himself", async () => {
    await serve();
    await page.setViewportSize({ width: 900, height: 420 });
    await begin();
    const scroll = page.locator("#scroll");
    const fromEnd = () => scroll.evaluate((it) => Math.round(it.scrollHeight - it.scrollTop - it.clientHeight));
    for (const count of [1, 2, 3, 4, 5, 6]) {
      await send(`Say word${count}`);
      await expect.poll(() => texts(".assistant"), WITHIN).toHaveLength(count);
      await state("");
      await expect.poll(fromEnd).toBeLessThan(2);
    }
    await scroll.evaluate((it) => it.scrollTo(0, 0));
    await createClient({ baseUrl: served.url }).sendMessage(sessionId(), "Say elsewhere").rest();
    await eventually(".assistant").toContain("elsewhere");
    expect(await scroll.evaluate((it) => it.scrollTop)).toBe(0);
    await send("Say here");
    await eventually(".assistant").toContain("here");
    await expect.poll(fromEnd).toBeLessThan(2);
  });

  test("Stop stops the run, and Resume goes on with it", async () => {
    await serve();
    await begin();
    await send("Run the command: sleep 60");
    await eventually(".tool code").toMatch(/sleep 60/);
    await page.click("#stop");
    await eventually(".note.error").toMatch(/aborted/);
    await page.reload();
    await page.click("#log button:text-is('Resume')");
    await eventually(".assistant").not.toBe("");
    await state("");
    expect(await texts(".resume")).toEqual([]);
  });

  test("an answer that was stopped in its middle is given anew by Resume, and nothing is told to have been put back", async () => {
    const half = openai.stream(openai.start, openai.text("Half an "), { type: "hang" });
    const { server, options } = await scriptedProvider(half, says("Whole"));
    onTestFinished(() => server[Symbol.asyncDispose]());
    await begin(undefined, await startHere(options));
    await send("Go");
    await eventually(".assistant").toBe("Half an ");
    await page.click("#stop");
    await eventually(".note.error").toMatch(/aborted/);
    await page.click("#log button:text-is('Resume')");
    await eventually(".assistant").toBe("Whole");
    await state("");
    expect(await texts(".user")).toEqual(["Go"]);
    expect(await texts("#moved")).toEqual([""]);
  });

  test("Undo takes the last message back, with what it did to files; it can be undone, and written otherwise", async () => {
    await serve();
    await begin();
    const files = async () => {
      const listed = await createClient({ baseUrl: served.url }).listFiles(sessionId());
      return listed.files.map(({ path }) => path);
    };
    await send("Create a file named a.txt containing one");
    await answered();
    await send("Create a file named b.txt containing two");
    await expect.poll(() => texts(".note"), WITHIN).toHaveLength(2);
    await state("");
    await page.click("#undo");
    await eventually("#moved").toMatch(/put back/);
    await eventually(".user").toBe("Create a file named a.txt containing one");
    expect(await files()).toEqual(["a.txt"]);
    await expect.poll(() => page.inputValue("#text"), WITHIN).toBe("Create a file named b.txt containing two");
    await page.click("#moved button:text-is('Undo that')");
    await eventually(".user").toMatch(/one\n.*two$/);
    expect(await files()).toEqual(["a.txt", "b.txt"]);
    await page.click("#moved button:text-is('Undo that')");
    await eventually(".user").not.toMatch(/two/);
    await send("Create a file named c.txt containing three");
    await expect.poll(files, WITHIN).toEqual(["a.txt", "c.txt"]);
    await eventually(".user").toMatch(/one\n.*three$/);
    expect(await texts("#moved button")).toEqual([]);
  });

  test("a file that somebody else has changed is not taken back unasked", async () => {
    await serve();
    await begin();
    await send("Create a file named a.txt containing one");
    await answered();
    await createClient({ baseUrl: served.url }).putFile(sessionId(), "a.txt", "theirs");
    await page.click("#undo");
    await eventually("#moved").toMatch(/Nothing was changed: somebody else has changed a\.txt/);
    expect(await texts(".user")).toHaveLength(1);
    await page.click("#moved button:text-is('Overwrite it all the same')");
    await eventually("#moved").toMatch(/put back/);
    expect(await texts(".bubble")).toEqual([]);
    await expect.poll(() => page.isVisible("#undo"), WITHIN).toBe(false);
  });

  test("an answer further up is gone back to, in place or as a branch that leaves this one as it is", async () => {
    await serve();
    await begin();
    for (const word of ["one", "two", "three"]) {
      await send(`Say ${word}`);
      await eventually(".assistant").toMatch(new RegExp(word));
      await answered();
      await state("");
    }
    const whole = page.url();
    expect(await texts(".back .here")).toHaveLength(3);
    expect(await page.locator(".back .here:visible").count()).toBe(2);
    await page.locator(".back button:text-is('Branch')").nth(1).dblclick();
    await eventually("#list a[aria-current] small").toBe("branch");
    expect(await texts("#list small")).toEqual(["branch"]);
    await eventually(".user").toBe("Say one\nSay two");
    expect(page.url()).not.toBe(whole);
    await eventually("#list small").toBe("branch");
    await page.locator(".back button:text-is('Back to here')").first().click();
    await eventually(".user").toBe("Say one");
    await page.goto(whole);
    await eventually(".user").toBe("Say one\nSay two\nSay three");
    expect(await texts("#moved button")).toEqual([]);
    // The second click comes when the first has done its work.
    await page.locator("#undo").dblclick({ delay: 300 });
    await eventually(".user").toBe("Say one\nSay two");
    await page.locator("#undo").click();
    await eventually(".user").toBe("Say one");
  });

  test("a tab that nobody looks at holds no connection, and has missed nothing when it is looked at again", async () => {
    await serve();
    await begin("careful");
    await send("Run the command: echo edited");
    await page.fill("fieldset input", "half a");
    const look = (hidden: boolean) =>
      page.evaluate(`Object.defineProperty(document, "hidden", { value: ${hidden}, configurable: true });
        document.dispatchEvent(new Event("visibilitychange"));`);
    const client = createClient({ baseUrl: served.url });
    const streams = async () => /^cognition_open_streams (\d+)$/m.exec(await client.getMetrics())?.[1];
    await expect.poll(streams, WITHIN).toBe("1");
    await look(true);
    await expect.poll(streams, WITHIN).toBe("0");
    await look(false);
    await expect.poll(streams, WITHIN).toBe("1");
    expect(await page.inputValue("fieldset input")).toBe("half a");
    await look(true);
    const [approval] = (await client.listApprovals()).approvals;
    await client.resumeAndFollow(sessionId(), { decisions: [{ id: approval?.id, type: "approve" }] }).rest();
    await client.sendMessage(sessionId(), "Say that all is done").rest();
    await look(false);
    await eventually(".assistant").toMatch(/edited[\s\S]*all is done/);
    await state("");
    expect(await texts(".user")).toEqual(["Run the command: echo edited", "Say that all is done"]);
    expect(await texts("fieldset")).toEqual([]);
  });

  test("what is said on one page is seen on another, and each conversation has its own address", async () => {
    await serve();
    await begin();
    await send("Say hello");
    await answered();
    const other = await openPage();
    await other.goto(page.url());
    await answered(other);
    await send("Say goodbye");
    await eventually(".assistant", other).toMatch(/goodbye/);
    expect(await texts(".user", other)).toEqual(["Say hello", "Say goodbye"]);
    await page.click("#new");
    await expect.poll(() => texts(".bubble")).toEqual([]);
    await page.goBack();
    await eventually(".user").toBe("Say hello\nSay goodbye");
    await other.close();
  });

  test("a message that goes on from an earlier one takes the place of what came after that, on every page", async () => {
    await serve();
    await begin();
    for (const word of ["one", "two"]) {
      await send(`Say ${word}`);
      await eventually(".assistant").toMatch(new RegExp(word));
      await answered();
    }
    const [first] = (await stored()).filter(({ role }) => role === "assistant").toReversed();
    const client = createClient({ baseUrl: served.url });
    await client.sendMessage(sessionId(), "Say three", { parent_id: first?.id ?? "" }).rest();
    await eventually(".user").toBe("Say one\nSay three");
    await eventually(".assistant").toMatch(/one[\s\S]*three/);
    expect(await texts("#moved")).toEqual([""]);
  });

  test("a plan and a delegation are seen, and after a reload in the same order", async () => {
    await serve();
    await begin();
    await send("Make a plan with these steps: read the file, write the answer");
    await answered();
    expect(await texts(".plan li")).toEqual(expect.arrayContaining([expect.stringMatching(/ write the answer$/)]));
    await page.click("#new");
    await send("Delegate to readonly: list the files in this directory");
    await eventually(".assistant").not.toBe("");
    await answered();
    expect((await texts(".note"))[0]).toMatch(/^→ readonly: /);
    expect(await texts(".tool code")).toContainEqual(expect.stringMatching(/^readonly: ls /));
    const kinds = () => page.locator("#log > *").evaluateAll((shown) => shown.map(({ className }) => className));
    const before = await kinds();
    expect(before.at(0)).toBe("bubble user");
    await page.reload();
    await answered();
    expect(await kinds()).toEqual(before);
  });

  test("a run that fails says why, and can be resumed when that is mended", async () => {
    await serve();
    const client = createClient({ baseUrl: served.url });
    await client.putBudgets({ budgets: [{ period: "total", max_steps: 0 }] });
    await begin();
    await send("Say hello");
    await eventually(".note.error").toMatch(/budget_exceeded: .*\nfailed/);
    await client.putBudgets({ budgets: [] });
    await page.click("#log button:text-is('Resume')");
    await eventually(".assistant").toMatch(/hello/i);
  });

  test("a key is asked for, and kept in this tab alone", async () => {
    const created = await runCli(["keys", "create", "ann", "--json"], { cwd: dir.path });
    const { key } = JSON.parse(created.output);
    await serve({ COGNITION_AUTH_MODE: "api_key" });
    await page.goto(served.url);
    await page.fill("#identity input", "cog_wrong");
    await page.click("#identity button");
    await expect.poll(() => page.textContent("#identity"), WITHIN).toMatch(/unauthorized: /);
    await page.fill("#identity input", key);
    await page.click("#identity button");
    await page.waitForSelector("#agents:not([hidden])");
    await send("Say hello");
    await answered();
    await page.reload();
    await answered();
    expect(await page.evaluate("Object.keys(localStorage).length + document.cookie.length")).toBe(0);
    await page.click("#forget");
    await page.waitForSelector("#identity input");
  });

  test("a scope is asked for by its names, and keeps conversations apart", async () => {
    await serve({ COGNITION_SCOPING_ENABLED: "true", COGNITION_SCOPE_KEYS: "user,project" });
    await page.goto(served.url);
    await page.fill("[name=X-Cognition-Scope-User]", "ann");
    await page.fill("[name=X-Cognition-Scope-Project]", "p");
    await page.press("[name=X-Cognition-Scope-Project]", "Enter");
    await page.waitForSelector("#agents:not([hidden])");
    await send("Say hello");
    await answered();
    const scope = { user: "ann", project: "p" };
    expect((await createClient({ baseUrl: served.url, scope }).listSessions()).total).toBe(1);
  });

  test("works behind a proxy that has it below a path", async () => {
    await serve();
    const proxy = await startProxy("/tools/agents");
    await page.goto(proxy.url);
    await page.waitForSelector("#agents:not([hidden])");
    await send("Say hello");
    await answered();
    await page.click("a:text-is('API')");
    await page.click("#listSessions summary");
    await page.click("#listSessions button");
    await eventually("#listSessions output").toMatch(/^200 .*\n\n.*"title":"Say hello"/);
    expect((await page.request.get(new URL("openapi.json", page.url()).href)).status()).toBe(200);
    expect(await page.getAttribute("a[href$='openapi.json']", "href")).toBe("openapi.json");
    await page.setViewportSize({ width: 340, height: 700 });
    expect(await page.evaluate("document.documentElement.scrollWidth - innerWidth")).toBeLessThanOrEqual(0);
    proxy.close();
  });

  test("a conversation that is not there is said", async () => {
    await serve();
    await page.goto(`${served.url}/#${crypto.randomUUID()}`);
    await eventually("#fault").toMatch(/^session_not_found: /);
    await page.click("#new");
    await eventually("#fault").toBe(""); // it was of the other one
  });

  test("why a message was refused stays until the next one, also where it was to begin a conversation", async () => {
    await serve({ COGNITION_SERVER_BODY_LIMIT: "1024" });
    await begin();
    await send("long ".repeat(300));
    await expect.poll(() => page.inputValue("#text"), WITHIN).toMatch(/^long /);
    // The conversation that was made for it is attended by now.
    await page.waitForSelector("#list a[aria-current]");
    await eventually("#fault").toMatch(/^content_too_large: /);
    await send("Say hello");
    await answered();
    expect(await texts("#fault")).toEqual([""]);
  });

  test("whoever stands in the list, or has the button down on it, loses neither when it is asked for again", async () => {
    await serve();
    const client = createClient({ baseUrl: served.url });
    for (const title of ["first", "second", "third"]) await client.createSession({ title });
    await begin();
    const listed = () => page.waitForResponse((response) => new URL(response.url()).pathname === "/sessions");
    const again = async () => {
      const asked = listed();
      await page.evaluate('dispatchEvent(new Event("focus"))');
      await asked;
    };
    const { id } = await client.createSession({ title: "meanwhile" });
    await page.focus("#list a:has-text('second')");
    await again();
    await page.waitForSelector(`#list a[href="#${id}"]`);
    expect(await page.evaluate("document.activeElement.textContent")).toBe("second");
    await page.hover("#list a:has-text('first')");
    await page.mouse.down();
    await client.deleteSession(id);
    await again();
    await page.waitForSelector(`#list a[href="#${id}"]`, { state: "detached" });
    await page.hover("#list a:has-text('first')");
    await page.mouse.up();
    await eventually("#title").toBe("first");
  });

  test("what is written from right to left is shown so", async () => {
    await serve();
    await begin();
    await send("שלום!");
    await answered();
    const left = (at: number) => `((range) => {
      range.setStart(document.querySelector("#log .user").firstChild, ${at});
      range.setEnd(range.startContainer, ${at + 1});
      return range.getBoundingClientRect().left;
    })(new Range())`;
    expect(await page.evaluate(left(4))).toBeLessThan(Number(await page.evaluate(left(3))));
    expect(await page.evaluate("getComputedStyle(document.querySelector('#list a')).direction")).toBe("rtl");
  });

  test.each(["light", "dark"] as const)("fits on a phone and a desk, %s", async (colorScheme) => {
    await serve();
    await page.emulateMedia({ colorScheme });
    await begin("careful");
    await send(`Run the command: echo ${"long ".repeat(80)}${"x".repeat(300)}`);
    await state("waiting for you");
    for (const width of [360, 1280]) {
      await page.setViewportSize({ width, height: 700 });
      expect(await page.evaluate("document.documentElement.scrollWidth - innerWidth")).toBeLessThanOrEqual(0);
      expect(await page.isVisible("button:text-is('Approve')")).toBe(true);
      expect(await page.isVisible("button:text-is('Send')")).toBe(true);
      const listIs = (isShown: boolean) => expect.poll(() => page.isVisible("#list")).toBe(isShown);
      await listIs(width > 1000);
      if (width > 1000) continue;
      await page.click("#menu");
      await listIs(true);
      await page.keyboard.press("Escape");
      await listIs(false);
    }
  });
});
