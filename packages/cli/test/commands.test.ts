import { EventEmitter, once } from "node:events";
import { existsSync, mkdirSync, writeFileSync } from "node:fs";
import { type AddressInfo, createServer, type Socket } from "node:net";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { openStorage } from "@cognition/thread";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { createTempDir, type TempDir } from "../../../testing/temp-dir.ts";
import { runInProcess } from "./run-in-process.ts";

let dir: TempDir;
beforeEach(() => {
  dir = createTempDir();
});
afterEach(() => dir.remove());
const run = (args: readonly string[], env: Record<string, string> = {}, input = "") =>
  runInProcess(args, { cwd: dir.path, env, input });

describe("the command line", () => {
  test("without a command it tells which there are, and that this was none", async () => {
    const { code, errors } = await run([]);
    expect(code).toBe(2);
    for (const name of "serve chat sessions log fork rewind keys db config doctor".split(" ")) {
      expect(errors).toMatch(new RegExp(`^ {2}${name} `, "m"));
    }
  });

  test.each([
    [["nonsense"], 'no command "nonsense"'],
    [["config", "--colour"], "--colour"],
    [["log"], "an argument is missing"],
    [["sessions", "extra"], 'no place for "extra"'],
    [["sessions", "--limit", "many"], '--limit must be a whole number, not "many"'],
    [["rewind", "s"], "name one point"],
    [["sessions", "--url", "localhost:8000"], "--url must be an address such as http://127.0.0.1:8000"],
    [
      ["chat", "--url", "http://127.0.0.1:1", "--storage", "x.db", "--set", "a=b"],
      "--storage, --set: not beside --url",
    ],
    [["sessions", "--key", "cog_x"], "--key: only beside --url"],
    [["chat", "--port", "8000", "--host", "a"], "--host, --port: only for `cognition serve`"],
    [["log", "s", "--log-level", "debug"], "--log-level: only for `cognition serve`"],
    [["log", "s", "--token", "x", "--key", "y"], "--key, --token: only beside --url"],
    [["sessions", "--url", "http://ann:hunter2@127.0.0.1:1"], "baseUrl must not hold a user name or a password"],
    [["keys", "create", "x", "--any-scope", "--scope", "user=ann"], "give one of them"],
    [["keys", "create", "x", "--scope", "user=ann", "--scope", "user=ben"], "--scope names user twice"],
    [["keys", "create", "x", "--expires", "0d"], '--expires must be like 90d, not "0d"'],
    [["keys", "list", "all"], 'no place for "all"'],
    [["keys", "list", "--scope", "user=ann"], "--scope: only beside create"],
    [["keys", "revoke", "cog_x", "--expires", "1d", "--admin"], "--admin, --expires: only beside create"],
    [["db", "status", "now"], 'no place for "now"'],
    [["db", "drop"], 'status, migrate or backup, not "drop"'],
    [["keys", "lose"], 'create, list or revoke, not "lose"'],
  ])("%j is a mistake that it explains, with exit code 2", async (args, message) => {
    const { code, output, errors } = await run(args);
    expect(errors).toContain(message);
    expect({ code, output }).toEqual({ code: 2, output: "" });
  });

  test("--help tells what a command takes", async () => {
    const { code, output } = await run(["rewind", "--help"]);
    expect(code).toBe(0);
    expect(output).toContain("--dry-run");
    expect(output).not.toContain("--port");
  });
});

test.each([
  ['models.providers=[{"id":"a","provider":"nope"}]', 'no kind of provider "nope"'],
  ["models.default_provider=nowhere", 'names "nowhere", and there is no such provider'],
])("%s stops the start as a mistake in the configuration", async (setting, message) => {
  const { code, errors } = await run(["serve", "--quiet", "--port", "0", "--set", setting]);
  expect(errors).toContain(message);
  expect(code).toBe(2);
});

test("a rewind prints the command that takes it back in the same database", async () => {
  const storage = await openStorage(join(dir.path, "other.db"));
  const { id } = await storage.createSession({});
  await storage.close();
  const place = ["--storage", "other.db"];
  expect(await run(["chat", "--session", id, ...place], {}, "hello\n")).toMatchObject({ code: 0 });
  const { output } = await run(["rewind", id, "--last", "turn", ...place]);
  expect(output).toMatch(new RegExp(`^Redo: cognition rewind ${id} --storage other.db --checkpoint \\S+$`, "m"));
});

test("what a server asks for as a header or a field is told as it is given here", async () => {
  const scoped = ["--set", "scoping.enabled=true"];
  const unnamed = await run(["sessions", ...scoped]);
  expect(unnamed.errors).toContain("send X-Cognition-Scope-User. (Here that is --scope <key>=<value>.)");
  expect((await run(["chat", ...scoped], {}, "hello\n")).errors).toContain("--scope <key>=<value>");
  const made = await run(["chat"], {}, "Create a file named a.txt containing exactly the word hello\n/session\n");
  const [id = ""] = made.errors.match(/[0-9a-f-]{36}/) ?? [];
  writeFileSync(join(dir.path, "a.txt"), "mine");
  const refused = await run(["rewind", id, "--last", "turn"]);
  expect(refused.errors).toContain("(Here that is `rewind` with --force.)");
  expect(await run(["rewind", id, "--last", "turn", "--force"])).toMatchObject({ code: 0 });
});

describe("config", () => {
  test("prints what is in force and where it comes from, without secrets", async () => {
    mkdirSync(join(dir.path, ".cognition"));
    writeFileSync(join(dir.path, ".cognition/config.yaml"), "server:\n  port: 9000\n");
    const env = {
      COGNITION_PERSISTENCE_URI: "postgresql://u:hunter2@db.example/c",
      COGNITION_AUTH_JWT_SECRET: "a secret of more than thirty-two bytes",
      COGNITION_TRACES_ENDPOINT: "https://me:hunter2@traces.example/v1",
    };
    const { code, output } = await run(["config", "--sandbox", "bubblewrap"], env);
    expect(code).toBe(0);
    expect(output).toMatch(/^server\.port +9000 +\S+\.cognition\/config\.yaml:2$/m);
    expect(output).toMatch(/^sandbox\.backend +bubblewrap +--sandbox$/m);
    expect(output).toMatch(/^persistence\.uri +postgresql:\/\/u:\*\*\*@db\.example\/c +COGNITION_PERSISTENCE_URI$/m);
    expect(output).toMatch(/^auth\.jwt\.secret +\(hidden\) +COGNITION_AUTH_JWT_SECRET$/m);
    expect(output).toMatch(/^traces\.endpoint +https:\/\/me:\*\*\*@traces\.example\/v1 +COGNITION_TRACES_ENDPOINT$/m);
    expect(output).not.toMatch(/hunter2|thirty-two/);
  });

  test("one key as JSON", async () => {
    const { output } = await run(["config", "server.port", "--json", "--set", "server.port=1"]);
    expect(JSON.parse(output)).toEqual([{ key: "server.port", value: 1, origin: "--set server.port" }]);
  });

  test("a variable that is not known stops with exit code 2", async () => {
    const { code, errors } = await run(["config"], { COGNITION_PROT: "1" });
    expect(code).toBe(2);
    expect(errors).toContain("COGNITION_PROT: no such variable. The nearest are COGNITION_PORT");
  });
});

describe("db", () => {
  test("status makes nothing; migrate makes it; backup copies it", async () => {
    const before = await run(["db", "status", "--json"]);
    expect(JSON.parse(before.output)).toMatchObject({ state: "missing", schema: null });
    const made = await run(["db", "migrate"]);
    expect(made.output).toMatch(/schema none -> \d+\n/);
    const after = JSON.parse((await run(["db", "status", "--json"])).output);
    expect(after).toMatchObject({ state: "current", schema: expect.any(Number) });
    expect((await run(["db", "migrate"])).output).toContain("nothing to do");
    const copied = await run(["db", "backup", "copy.db"]);
    expect(copied).toMatchObject({ code: 0, output: `${join(dir.path, "copy.db")}\n` });
    const told = await run(["db", "backup", "other.db", "--json"]);
    expect(JSON.parse(told.output)).toEqual({ file: join(dir.path, "other.db") });
    const again = await run(["db", "backup", "copy.db"]);
    expect(again.code).toBe(1);
    expect(again.errors).toContain("is there already");
    const status = await run(["db", "status", "--storage", "copy.db", "--json"]);
    expect(JSON.parse(status.output)).toMatchObject({ state: "current" });
  });

  test("a database where no folder can be made is exit code 3, and not a wait without end", async () => {
    await run(["db", "migrate"]);
    const belowFile = join(dir.path, ".cognition/state.db/nowhere");
    for (const folder of ["/proc/nowhere", belowFile]) {
      const told = {
        code: 3,
        errors: expect.stringMatching(new RegExp(`^cognition db: SQLite database .*${folder}/a.db`)),
      };
      expect(await run(["db", "migrate", "--storage", `${folder}/a.db`])).toMatchObject(told);
      expect(await run(["db", "backup", `${folder}/a.db`])).toMatchObject(told);
    }
  });

  test("a database that can't be reached is exit code 3", async () => {
    const { code, errors } = await run(["db", "status", "--storage", "postgresql://u:hunter2@127.0.0.1:1/c"]);
    expect(code).toBe(3);
    expect(errors).not.toContain("hunter2");
  });
});

describe("keys", () => {
  test("are shown once, listed without the secret, and revoked", async () => {
    const { code, output: key } = await run(["keys", "create", "phone", "--scope", "user=ann", "--expires", "30d"]);
    expect(code).toBe(0);
    expect(key).toMatch(/^cog_[\w-]+\n$/);
    const listed = await run(["keys", "list"]);
    expect(listed.output).toMatch(/ valid +user=ann +\d{4}-\d\d-\d\d +phone\n$/);
    expect(listed.output).not.toContain(key.trim());
    const [{ prefix }] = JSON.parse((await run(["keys", "list", "--json"])).output).api_keys;
    expect(key.startsWith(prefix)).toBe(true);
    expect((await run(["keys", "revoke", prefix])).output).toContain("is revoked");
    expect((await run(["keys", "list"])).output).toContain(" revoked ");
    expect(await run(["keys", "revoke", "cog_none"])).toMatchObject({ code: 1 });
  });

  test("a whole key that leaked is revoked as it was found, and not printed once more", async () => {
    const { output: key } = await run(["keys", "create", "leaked"]);
    const { code, output, errors } = await run(["keys", "revoke", key.trim()]);
    expect({ code, errors }).toEqual({ code: 0, errors: "" });
    expect(output).toContain("(leaked) is revoked");
    expect(output).not.toContain(key.trim());
  });
});

describe("chat", () => {
  test("makes a title of the first message, wherever that is cut", async () => {
    for (const length of [77, 78, 79]) {
      const { code, errors } = await run(["chat"], {}, `${"a".repeat(length)}👋 and more\n`);
      expect({ code, errors }, `after ${length} letters`).toEqual({ code: 0, errors: "" });
    }
  });
});

describe("doctor", () => {
  test("names an MCP server that can't be started", async () => {
    const env = { COGNITION_TOOLS_MCP: JSON.stringify([{ name: "absent", command: "/no/such/program" }]) };
    const { output } = await runInProcess(["doctor", "--offline"], { cwd: dir.path, env });
    expect(output).toMatch(/warning definitions: MCP server absent \(\/no\/such\/program\) did not start/);
  });

  test("says that all is well, what could be better, and repairs messages", async () => {
    expect(await run(["chat"], {}, "hello\n")).toMatchObject({ code: 0 });
    const db = new DatabaseSync(join(dir.path, ".cognition/state.db"));
    db.exec(`update messages set content = '"never said"' where role = 'assistant'`);
    db.close();
    const { code, output } = await run(["doctor", "--repair"]);
    expect(output).toMatch(/^ok +configuration: valid$/m);
    expect(output).toMatch(/^ok +storage: sqlite, .*; schema \d+;/m);
    expect(output).toMatch(/^warning model offline:/m);
    expect(output).toMatch(/^ok +sessions: 1 checked with 2 messages; 1 message set right$/m);
    expect(code).toBe(0);
    expect((await run(["doctor", "--repair"])).output).toContain("all as they should be");
  });

  test("brings back rows that were deleted, and removes ones that were doubled", async () => {
    expect(await run(["chat"], {}, "hello\n")).toMatchObject({ code: 0 });
    const db = new DatabaseSync(join(dir.path, ".cognition/state.db"));
    const rows = () => db.prepare("select id, role, content from messages order by position").all();
    const before = rows();
    expect(before).toHaveLength(2);
    const columns = db.prepare(
      "select name from pragma_table_info('messages') where name not in ('pk', 'id', 'position')",
    );
    const copied = columns.all().map(({ name }) => name);
    db.exec(
      `insert into messages (id, position, ${copied}) select 'copy', 9, ${copied} from messages where role = 'user'`,
    );
    db.exec("delete from messages where role = 'assistant'");
    const { output } = await run(["doctor", "--repair"]);
    expect(output).toMatch(/^ok +sessions: 1 checked with 2 messages; 2 messages set right$/m);
    expect(rows()).toEqual(before);
    db.close();
  });

  test("looks at an older database, and leaves it as it is", async () => {
    expect(await run(["db", "migrate"])).toMatchObject({ code: 0 });
    const db = new DatabaseSync(join(dir.path, ".cognition/state.db"));
    const before = Number(db.prepare("select max(version) as latest from schema_migrations").get()?.["latest"]) - 1;
    db.exec(`delete from schema_migrations where version > ${before}`);
    const { code, output } = await run(["doctor"]);
    expect(output).toMatch(new RegExp(`^FAILED +storage: .* at schema ${before} .*cognition db migrate`, "m"));
    expect(code).toBe(1);
    expect(db.prepare("select max(version) as latest from schema_migrations").get()).toEqual({ latest: before });
    db.close();
  });

  test("names what fails, with exit code 1", async () => {
    mkdirSync(join(dir.path, ".cognition"));
    writeFileSync(join(dir.path, ".cognition/config.yaml"), "serve: {}\n");
    const { code, output } = await run(["doctor", "--json"]);
    expect(code).toBe(1);
    expect(JSON.parse(output)).toMatchObject({
      ok: false,
      checks: [{ name: "configuration", state: "failed", message: expect.stringContaining("unknown key serve") }],
    });
  });
});

describe("serve", () => {
  test("a workspace where the system makes no folders is refused, whatever the storage", async () => {
    const { code, errors } = await run(["serve", "--port", "0", "--storage", "memory", "--workspace", "/proc/x/y"]);
    expect(errors).toMatch(/The workspace \/proc\/x\/y can't be made: .*Nothing was started/);
    expect(code).toBe(2);
  });

  test("two signals end a start that waits for a database which does not answer", async () => {
    const sockets: Socket[] = [];
    const silent = createServer((socket) => void sockets.push(socket)).listen(0, "127.0.0.1");
    await once(silent, "listening");
    const { port } = silent.address() as AddressInfo;
    const signals = new EventEmitter();
    const args = ["serve", "--port", "0", "--storage", `postgresql://u:p@127.0.0.1:${port}/d`];
    const ended = runInProcess(args, { cwd: dir.path, signals });
    await once(silent, "connection");
    signals.emit("SIGINT");
    signals.emit("SIGINT");
    const { code, errors } = await ended;
    expect(code).toBe(130);
    expect(errors).toMatch(/^Stopping: .* Once more to stop at once\.\n$/);
    for (const socket of sockets) socket.destroy();
    silent.close();
  });

  test("a promise that fails unheard does not end the server, an error that nobody caught does; both are logged, without secrets", async () => {
    const signals = new EventEmitter();
    const exits: number[] = [];
    signals.on("exit", (code: number) => exits.push(code));
    const env = { OPENAI_API_KEY: "sk-very-secret-0123456789" };
    const ended = runInProcess(["serve", "--port", "0", "--quiet"], { cwd: dir.path, env, signals });
    await expect.poll(() => signals.listenerCount("unhandledRejection"), { timeout: 30_000 }).toBe(1);
    signals.emit("unhandledRejection", new Error("stray, with sk-very-secret-0123456789"));
    signals.emit("unhandledRejection", null);
    expect(exits).toEqual([]);
    signals.emit("uncaughtException", new Error("thrown into the air"));
    expect(exits).toEqual([1]);
    signals.emit("SIGINT");
    const { code, errors } = await ended;
    expect(code).toBe(0);
    expect(errors).toMatch(/stray, with .*nobody waited for/);
    expect(errors).toMatch(/thrown into the air.*the process ends/);
    expect(errors).not.toContain("very-secret");
    expect(signals.listenerCount("unhandledRejection")).toBe(0);
  });

  test("a descriptor that can't be told that it is ready is a mistake on the command line", async () => {
    const { code, errors } = await run(["serve", "--port", "0", "--ready-fd", "998"]);
    expect(code).toBe(2);
    expect(errors).toContain("--ready-fd 998 can't be written");
  });
});

test("whoever only looks makes no database, and is told where none is", async () => {
  const { code, output } = await run(["sessions"]);
  expect({ code, output }).toEqual({
    code: 0,
    output: `No sessions at ${dir.path} yet. \`cognition chat\` begins one.\n`,
  });
  expect(await run(["log", "s"])).toMatchObject({ code: 1, errors: expect.stringContaining("There is no session s") });
  expect(existsSync(join(dir.path, ".cognition"))).toBe(false);
});

test("whoever only looks takes up nothing that a server has left", async () => {
  await run(["db", "migrate"]);
  const path = join(dir.path, ".cognition/state.db");
  const before = await openStorage(path);
  const session = await before.createSession({ title: "left" });
  const { run: left } = await before.createRun({
    session_id: session.id,
    message: { role: "user", content: "Create a file named made.txt containing exactly the word no" },
  });
  await before.close();
  expect((await run(["sessions"])).output).toContain("left");
  expect((await run(["log", session.id])).code).toBe(0);
  const after = await openStorage(path);
  expect(await after.getRun(left.id)).toMatchObject({ status: "queued", attempt: 0 });
  await after.close();
});
