import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { createClient } from "@cognition/client";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { createTempDir, type TempDir } from "../../../testing/temp-dir.ts";
import { type RunningCli, runCli, type Served, startInTerminal, startServe } from "./cli-process.ts";

let dir: TempDir;
let open: RunningCli[] = [];
beforeEach(() => {
  dir = createTempDir();
});
afterEach(async () => {
  for (const { child } of open) child.kill("SIGKILL");
  await Promise.all(open.map(({ exited }) => exited));
  open = [];
  dir.remove();
});

async function serve(...args: string[]): Promise<Served> {
  const served = await startServe(args, { cwd: dir.path });
  open.push(served);
  return served;
}

describe("serve", () => {
  test("says in a few lines what it uses, what to try and what is missing", async () => {
    const { url, seen, until } = await serve();
    await until(/Ctrl-C stops it/);
    const lines = seen().trimEnd().split("\n");
    expect(lines.length).toBeLessThan(14);
    expect(lines[0]).toMatch(/^Cognition \d+\.\d+\.\d+ on http:\/\/127\.0\.0\.1:\d+$/);
    expect(seen()).toContain(`storage  sqlite, ${dir.path}/.cognition/state.db`);
    expect(seen()).toContain(`${url}/docs`);
    expect(seen()).toContain(`open ${url} in a browser`);
    expect(seen()).toMatch(/missing for production: PostgreSQL .*; a sandbox .*; a model .*; authentication/);
  });

  test("starts without any model, and says what to set: a provider can be made through its API", async () => {
    const { url, seen, until } = await serve("--set", "models.offline=off");
    await until(/Ctrl-C stops it/);
    expect(seen()).toMatch(/model {4}none: No model provider is enabled.*OPENAI_API_KEY/);
    expect((await fetch(`${url}/ready`)).status).toBe(200);
  });

  test("tells that it made the workspace, whose name may be misspelt", async () => {
    const { seen, until } = await serve("--workspace", "srcc");
    await until(/Ctrl-C stops it/);
    expect(seen()).toContain(`${join(dir.path, "srcc")}, which was not there and was made`);
    const again = await serve("--workspace", "srcc");
    await again.until(/Ctrl-C stops it/);
    expect(again.seen()).not.toContain("was made");
  });

  test.each([
    [{ npm_package_name: "cognition-workspace", npm_command: "start" }, "npm run cognition -- chat"],
    [{ npm_command: "exec" }, "npx cognition chat"],
    [{}, "cognition chat"],
  ])("started with %j it says how to chat in the same way", async (env, command) => {
    const served = await startServe([], { cwd: dir.path, env });
    open.push(served);
    await served.until(/Ctrl-C stops it/);
    expect(served.seen()).toContain(`  or       ${command} --url ${served.url}\n`);
  });

  test.each([
    [["auth.mode=api_key"], /curl -X POST -H 'X-API-Key: <key>' http/, / --key <key>\n/],
    [
      ["auth.mode=jwt", `auth.jwt.secret=${"s".repeat(40)}`],
      /curl -N -X POST -H 'Authorization: Bearer <token>' http/,
      / --token <token>\n/,
    ],
    [["scoping.enabled=true"], /curl -X POST -H 'X-Cognition-Scope-User: <user>' http/, / --scope user=<user>\n/],
  ])("what it says to try gets through with %j", async (settings, curl, chat) => {
    const { until, seen } = await serve(...settings.flatMap((setting) => ["--set", setting]));
    await until(/Ctrl-C stops it/);
    expect(seen()).toMatch(curl);
    expect(seen()).toMatch(chat);
    expect(seen().includes("cognition keys create")).toBe(settings.includes("auth.mode=api_key"));
  });

  test("the command that it gives makes a key that is let in, wherever the storage is and with scoping on", async () => {
    const settings = ["--set", "auth.mode=api_key", "--set", "scoping.enabled=true"];
    const { url, until, seen } = await serve("--workspace", "its own", "--storage", "kept.db", ...settings);
    await until(/Ctrl-C stops it/);
    const [, command = ""] = /a key +cognition (.*)\n/.exec(seen()) ?? [];
    expect(command).toBe("keys create <name> --scope user=<user> --workspace 'its own' --storage kept.db");
    const args = ["keys", "create", "ann", "--scope", "user=ann", "--workspace", "its own", "--storage", "kept.db"];
    const { output } = await runCli(args, { cwd: dir.path });
    const { sessions } = await createClient({ baseUrl: url, apiKey: output.trim() }).listSessions();
    expect(sessions).toEqual([]);
  });

  test("does not promise to keep what is in memory alone", async () => {
    const { until, seen } = await serve("--storage", "memory");
    await until(/Ctrl-C stops it/);
    await until(/All of it is lost then/);
    expect(seen()).not.toContain("Nothing is lost");
  });

  test("Ctrl-C drains: what runs is kept, and the next server ends it", async () => {
    const first = await serve("--quiet");
    const client = createClient({ baseUrl: first.url });
    const session = await client.createSession();
    await client.submitMessage(session.id, "Run the command: echo kept");
    first.child.kill("SIGINT");
    expect(await first.exited).toBe(0);
    expect(first.seen()).toContain("running work goes on to its next step and is kept");

    const second = await serve("--quiet");
    const again = createClient({ baseUrl: second.url });
    const [run] = (await again.listRuns(session.id)).runs;
    const rest = await again.followRun(session.id, run?.id ?? "").rest();
    expect(rest).toMatchObject({ event: "done", data: { status: "succeeded" } });
    second.child.kill("SIGTERM");
    expect(await second.exited).toBe(0);
  });

  test("a terminal that is closed drains it, however often that is told", async () => {
    // Whoever lets go without a word keeps the session for ten minutes.
    const env = { COGNITION_RUNS_LEASE_MS: "600000" };
    const first = await startServe(["--quiet"], { cwd: dir.path, env });
    open.push(first);
    const client = createClient({ baseUrl: first.url });
    const session = await client.createSession();
    await client.submitMessage(session.id, "Run the command: sleep 1; echo kept");
    first.child.kill("SIGHUP");
    await first.until(/running work goes on to its next step and is kept/);
    first.child.kill("SIGHUP");
    expect(await first.exited).toBe(0);

    const inTerminal = startInTerminal(["serve", "--port", "0"], { cwd: dir.path, env });
    open.push(inTerminal);
    await inTerminal.until(/Ctrl-C stops it/);
    const url = /http:\S+/.exec(inTerminal.seen())?.[0] ?? "";
    const again = createClient({ baseUrl: url });
    const [run] = (await again.listRuns(session.id)).runs;
    const rest = await again.followRun(session.id, run?.id ?? "").rest();
    expect(rest).toMatchObject({ event: "done", data: { status: "succeeded" } });
    const left = await again.submitMessage(session.id, "Run the command: sleep 1; echo kept too");
    inTerminal.child.kill("SIGKILL"); // which is the terminal itself
    await expect.poll(() => fetch(url).catch(() => "gone"), { timeout: 30_000 }).toBe("gone");

    const last = createClient({ baseUrl: (await serve("--quiet")).url });
    const end = await last.followRun(session.id, left.id).rest();
    expect(end).toMatchObject({ event: "done", data: { status: "succeeded" } });
  });

  test("a pipe that nobody reads any more ends neither the server nor the work of its stop", async () => {
    const { url, child, exited } = await serve();
    child.stdout?.destroy();
    child.stderr?.destroy();
    const client = createClient({ baseUrl: url });
    await expect(client.getSession("nobody")).rejects.toMatchObject({ code: "session_not_found" });
    const session = await client.createSession({ title: "still there" });
    await client.sendMessage(session.id, "hello").rest();
    child.kill("SIGTERM");
    expect(await exited).toBe(0);
  });

  test("a promise of a tool file that fails unheard ends neither the server nor its runs", async () => {
    mkdirSync(join(dir.path, ".cognition/tools"), { recursive: true });
    const stray = 'void Promise.reject(new Error("a stray promise"));\nexport default {};\n';
    writeFileSync(join(dir.path, ".cognition/tools/stray.ts"), stray);
    const { url, until, child, exited } = await serve("--quiet");
    const client = createClient({ baseUrl: url });
    const session = await client.createSession();
    expect(await client.sendMessage(session.id, "hello").rest()).toMatchObject({ data: { status: "succeeded" } });
    await until(/a stray promise/);
    child.kill("SIGTERM");
    expect(await exited).toBe(0);
  });

  test("the other commands talk to it with --url", async () => {
    const { url } = await serve("--quiet");
    const chat = await runCli(["chat", "--url", url], { cwd: dir.path, input: "hello\n" });
    expect(chat.code).toBe(0);
    const listed = await runCli(["sessions", "--url", url], { cwd: dir.path });
    expect(listed.output).toMatch(/ active +2 +\S+ \S+ +hello\n$/);
  });

  test("a server that is not there is exit code 3", async () => {
    const { code, errors } = await runCli(["sessions", "--url", "http://127.0.0.1:1"], { cwd: dir.path });
    expect({ code, errors }).toMatchObject({ code: 3, errors: expect.stringContaining("can't be reached") });
  });

  test("a port that is taken, or an address that others reach, stops with what to do", async () => {
    const { url } = await serve("--quiet");
    const port = new URL(url).port;
    const taken = await runCli(["serve", "--port", port], { cwd: dir.path });
    expect(taken).toMatchObject({ code: 2, errors: expect.stringContaining(port) });
    expect(taken.errors).toMatch(/something listens there already.*COGNITION_PORT/);
    const exposed = await runCli(["serve", "--host", "0.0.0.0", "--port", "0"], { cwd: dir.path });
    expect(exposed).toMatchObject({ code: 2, errors: expect.stringContaining("COGNITION_AUTH_MODE") });
  });
});
