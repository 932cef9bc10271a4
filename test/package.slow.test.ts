import { spawn, spawnSync } from "node:child_process";
import { once } from "node:events";
import { existsSync, globSync, mkdirSync, readFileSync, realpathSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import type { Readable } from "node:stream";
import { text } from "node:stream/consumers";
import type { Browser } from "playwright-core";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { openBrowser } from "../testing/browser.ts";
import { createTempDir } from "../testing/temp-dir.ts";

const root = join(import.meta.dirname, "..");
const packages = ["contract", "thread", "client", "server", "cli"];
/** What one installs to have the library, the SDK or the command. */
const libraries = packages.filter((name) => name !== "cli");
const dir = createTempDir("cognition-package-");
const installed = join(dir.path, "node_modules", "@cognition");

describe("the packed packages", () => {
  beforeAll(() => {
    npm(root, "run", "build");
    const workspaces = packages.map((name) => `--workspace=packages/${name}`);
    npm(root, "pack", ...workspaces, `--pack-destination=${dir.path}`);
    writeFileSync(join(dir.path, "package.json"), JSON.stringify({ private: true, type: "module" }));
    npm(dir.path, "install", "--no-audit", "--no-fund", ...globSync(join(dir.path, "*.tgz")), ...peers());
  }, 900_000);
  afterAll(dir.remove);

  test.each(libraries)("%s can be imported", (name) => {
    const files = globSync("**/*", { cwd: join(installed, name) });
    expect(files).toEqual(expect.arrayContaining([join("dist", "index.js"), join("dist", "index.d.ts")]));
  });

  test.each(packages)("%s ships JavaScript with its types and no source", (name) => {
    const files = globSync("**/*", { cwd: join(installed, name), exclude: (path) => path.includes("node_modules") });
    expect(files).toContain("package.json");
    expect(files.filter((file) => /^(src|test)\b|(?<!\.d)\.ts$|tsbuildinfo/.test(file))).toEqual([]);
  });

  test("server ships what the docker sandbox's image is made of, as its errors say", () => {
    expect(existsSync(join(installed, "server", "sandbox-image", "Dockerfile"))).toBe(true);
  });

  test.each(packages)("%s ships the licence", (name) => {
    const file = join(installed, name, "LICENSE");
    expect(existsSync(file) && readFileSync(file, "utf8")).toBe(readFileSync(join(root, "LICENSE"), "utf8"));
  });

  test.each(packages)("%s refers only to files that it ships", (name) => {
    const missing = globSync("dist/**/*.{js,d.ts}", { cwd: join(installed, name) }).flatMap((file) =>
      missingFiles(join(installed, name, file)),
    );
    expect(missing).toEqual([]);
  });

  describe("on Node 20", () => {
    const folder = join(dir.path, "node-20");
    const bin = join(folder, "node_modules", `node-linux-${process.arch}`, "bin");
    const node = join(bin, "node");
    beforeAll(() => {
      mkdirSync(folder);
      writeFileSync(join(folder, "package.json"), JSON.stringify({ private: true, type: "module" }));
      npm(folder, "install", "--no-audit", "--no-fund", `node-linux-${process.arch}@20`);
    });

    test("the client installs and runs, as its README says", () => {
      const tarballs = ["client", "contract"].flatMap((name) => globSync(join(dir.path, `cognition-${name}-*.tgz`)));
      // Run by that Node itself, npm refuses what says that it needs a newer one.
      const [file, args] = npmCommand("install", "--engine-strict", "--no-audit", "--no-fund", ...tarballs);
      const env = { PATH: `${bin}:${process.env["PATH"]}` };
      run(folder, file === process.execPath ? node : file, args, { env });
      const program = `
        import { createClient } from "@cognition/client";
        const fetch = async () => Response.json({ status: "ok" });
        const { status } = await createClient({ baseUrl: "http://127.0.0.1:8000", fetch }).getHealth();
        console.log(JSON.stringify({ status, major: process.versions.node.split(".")[0] }));
      `;
      const output = run(folder, node, ["--input-type=module", "--eval", program]);
      expect(JSON.parse(output)).toEqual({ status: "ok", major: "20" });
    });

    test("npx cognition says which Node it needs", () => {
      const { status, stderr } = spawnSync(node, [...npx("cognition"), "chat"], { cwd: folder, encoding: "utf8" });
      expect(stderr).toMatch(/^cognition needs Node 22\.18 or newer; this is 20\.\d+\.\d+\.\n$/);
      expect(status).toBe(2);
    });
  });

  test("run a graph in plain Node in an empty folder, and another process goes on with its thread", () => {
    const program = `
      import { openStorage } from "@cognition/thread";
      import { END, MessagesAnnotation, START, StateGraph } from "@langchain/langgraph";
      const storage = await openStorage("state.db");
      const graph = new StateGraph(MessagesAnnotation)
        .addNode("answer", ({ messages }) => ({ messages: [{ role: "assistant", content: "answer " + messages.length }] }))
        .addEdge(START, "answer")
        .addEdge("answer", END)
        .compile({ checkpointer: await storage.getCheckpointer() });
      const config = { configurable: { thread_id: "t1" }, durability: "sync" };
      const { messages } = await graph.invoke({ messages: [{ role: "user", content: "hello" }] }, config);
      console.log(JSON.stringify(messages.map(({ content }) => content)));
      await storage.close();
    `;
    expect(JSON.parse(runProgram(program))).toEqual(["hello", "answer 1"]);
    expect(JSON.parse(runProgram(program))).toEqual(["hello", "answer 1", "hello", "answer 3"]);
  });

  test.each([
    ["nodenext", "nodenext"],
    ["esnext", "bundler"],
  ])("are typed for a strict program of modules %s, resolved as %s", (module, moduleResolution) => {
    writeFileSync(join(dir.path, "typed.ts"), TYPED);
    const compilerOptions = {
      ...{ module, moduleResolution, target: "es2023", types: ["node"], noEmit: true, declaration: true },
      ...{ strict: true, exactOptionalPropertyTypes: true, noUncheckedIndexedAccess: true },
      ...{ verbatimModuleSyntax: true, isolatedModules: true, skipLibCheck: false },
      typeRoots: [join(root, "node_modules", "@types")],
    };
    writeFileSync(join(dir.path, "tsconfig.json"), JSON.stringify({ compilerOptions, files: ["typed.ts"] }));
    const tsc = join(root, "node_modules", "typescript", "bin", "tsc");
    const { stdout } = spawnSync(process.execPath, [tsc, "--project", dir.path], { cwd: dir.path, encoding: "utf8" });
    // Not all that others ship is right for a program as strict as this.
    const errors = stdout.split("\n").filter((line) => /^(typed|node_modules.@cognition)/.test(line));
    expect(errors).toEqual([]);
  });

  test("npx cognition starts a server, and the client talks to it", async () => {
    const server = spawn(process.execPath, [...npx("cognition"), "serve", "--port", "0", "--ready-fd", "3"], {
      cwd: dir.path,
      env: cleanEnvironment(),
      stdio: ["ignore", "ignore", "ignore", "pipe"],
    });
    const ended = once(server, "exit");
    try {
      const [line] = await once(server.stdio[3] as Readable, "data");
      const program = `
        import { createClient } from "@cognition/client";
        const client = createClient({ baseUrl: ${JSON.stringify(JSON.parse(String(line)).url)} });
        const session = await client.createSession({ title: "packed" });
        const order = "Create a file named packed.txt containing exactly the word yes";
        const { data } = await client.sendMessage(session.id, order).rest();
        const { total } = await client.getMessages(session.id);
        console.log(JSON.stringify({ status: data.status, total }));
      `;
      expect(JSON.parse(await runProgramAsync(program))).toEqual({ status: "succeeded", total: 4 });
    } finally {
      server.kill("SIGTERM");
      expect(await ended).toEqual([0, null]);
    }
  });

  test("npx cognition serves the chat page, with every module of it", async () => {
    const server = spawn(process.execPath, [...npx("cognition"), "serve", "--port", "0", "--ready-fd", "3"], {
      cwd: dir.path,
      env: cleanEnvironment(),
      stdio: ["ignore", "ignore", "ignore", "pipe"],
    });
    const ended = once(server, "exit");
    const found = await openBrowser();
    try {
      const [line] = await once(server.stdio[3] as Readable, "data");
      const { url } = JSON.parse(String(line));
      await expectModules(`${url}/page/app/main.js`);
      if (!("missing" in found)) await expectAnswer(found, url);
    } finally {
      if (!("missing" in found)) await found.close();
      server.kill("SIGTERM");
      expect(await ended).toEqual([0, null]);
    }
  });

  test("npx cognition chat works in an empty folder", () => {
    const folder = join(dir.path, "project");
    mkdirSync(folder);
    const output = run(folder, process.execPath, [...npx("cognition"), "chat"], {
      input: "What tools do you have?\n",
    });
    expect(output).toContain("write_file");
  });
});

const TYPED = `
  import { createClient } from "@cognition/client";
  import { journalTool, startServer } from "@cognition/server";
  import { type CheckpointSaver, isAppError, LEASE, openStorage, type Session, type Storage, type StoredEvent } from "@cognition/thread";
  import type { OpenStorage } from "@cognition/thread/conformance";
  import { type BaseStore, MessagesAnnotation, START, StateGraph } from "@langchain/langgraph";

  export const open: OpenStorage = async () => {
    const storage = await openStorage({ uri: "memory", pool: { min: 0 } });
    return { storage, dispose: () => storage.close() };
  };
  export async function use(): Promise<Session> {
    const { storage } = await open();
    const checkpointer: CheckpointSaver = await storage.getCheckpointer();
    const store: BaseStore = await storage.getStore();
    const graph = new StateGraph(MessagesAnnotation)
      .addNode("answer", () => ({ messages: [] }))
      .addEdge(START, "answer")
      .compile({ checkpointer, store });
    const configurable = { thread_id: "t", [LEASE]: { run_id: "r", epoch: 1 } };
    await graph.invoke({ messages: [] }, { configurable, durability: "sync" });
    const events: StoredEvent[] = [];
    for await (const event of storage.followEvents({ session_id: "s", after: 0 })) events.push(event);
    return storage.createSession({ title: events.length.toString() }).catch((error: unknown) => {
      throw isAppError(error, "validation_failed") ? new Error(error.code) : error;
    });
  }
  export async function ask(): Promise<string | undefined> {
    for await (const { event, data } of createClient({ baseUrl: "http://127.0.0.1" }).sendMessage("s", "hello"))
      if (event === "done") return data.status;
    return undefined;
  }
  export const server = (storage: Storage) =>
    startServer({ storage, workspace_root: ".", onError: console.error, port: 0, env: {} });
  export { journalTool };
`;

/** Follows every import as a browser would. */
async function expectModules(first: string): Promise<void> {
  const wanted = new Set([first]);
  for (const address of wanted) {
    const response = await fetch(address);
    expect([address, response.status, response.headers.get("Content-Type")]).toEqual([
      address,
      200,
      "text/javascript; charset=utf-8",
    ]);
    for (const [, specifier = ""] of (await response.text()).matchAll(/\b(?:from|import) "([^"]+)"/g)) {
      expect(specifier).toMatch(/^\.\.?\//);
      wanted.add(new URL(specifier, address).href);
    }
  }
  expect(wanted.size).toBeGreaterThan(15);
}

async function expectAnswer(browser: Browser, url: string): Promise<void> {
  const page = await browser.newPage();
  await page.goto(url);
  await page.waitForSelector("#agents:not([hidden])");
  await page.fill("#text", "Say hello");
  await page.press("#text", "Enter");
  await expect.poll(() => page.locator(".assistant").allTextContents()).toEqual([expect.stringMatching(/hello/i)]);
}

/** Peers, and the graph engine, at the versions that the package is developed with; npm alone would take the newest. */
function peers(): string[] {
  const { peerDependencies, peerDependenciesMeta, devDependencies } = JSON.parse(
    readFileSync(join(root, "packages/thread/package.json"), "utf8"),
  );
  const needed = Object.keys(peerDependencies).filter((name) => !peerDependenciesMeta[name]?.optional);
  return [...needed, "@langchain/langgraph"].map((name) => `${name}@${devDependencies[name]}`);
}

function missingFiles(file: string): string[] {
  // A comment may show an import without meaning one.
  const code = readFileSync(file, "utf8").replace(/^\s*(\/\/|\/?\*).*$/gm, "");
  const specifiers = code.matchAll(/(?:from|import|import\() ?"(\.[^"]+)"/g);
  return [...specifiers]
    .map(([, specifier = ""]) => join(dirname(file), specifier))
    .map((target) => (file.endsWith(".d.ts") ? target.replace(/\.[jt]s$/, ".d.ts") : target))
    .filter((target) => !existsSync(target));
}

function runProgram(source: string): string {
  const file = join(dir.path, "program.js");
  writeFileSync(file, source);
  return run(dir.path, process.execPath, [file]);
}

/** The command as npx finds it, without a shell or npm in between to swallow its signals. */
function npx(name: string): string[] {
  return [realpathSync(join(dir.path, "node_modules", ".bin", name))];
}

/** Without holding up the event loop, which must see the server's end. */
async function runProgramAsync(source: string): Promise<string> {
  const file = join(dir.path, "program-async.js");
  writeFileSync(file, source);
  const child = spawn(process.execPath, [file], {
    cwd: dir.path,
    env: cleanEnvironment(),
    stdio: ["ignore", "pipe", "inherit"],
  });
  return text(child.stdout);
}

function npm(cwd: string, ...args: string[]): string {
  return run(cwd, ...npmCommand(...args));
}

function npmCommand(...args: string[]): [file: string, args: string[]] {
  const cli = process.env["npm_execpath"];
  return cli ? [process.execPath, [cli, ...args]] : ["npm", args];
}

/** Without what an outer npm has put into the environment: it would make the inner one work in the outer's folder. */
function cleanEnvironment(): NodeJS.ProcessEnv {
  const outer = /^(npm_(?!config_(registry|cache|userconfig)$)|NODE_OPTIONS$|INIT_CWD$)/;
  return Object.fromEntries(Object.entries(process.env).filter(([name]) => !outer.test(name)));
}

const DEADLINE_MS = 600_000;

function run(
  cwd: string,
  file: string,
  args: string[],
  { input = "", env = {} }: { input?: string; env?: Record<string, string> } = {},
): string {
  const { status, stdout, stderr, error } = spawnSync(file, args, {
    cwd,
    env: { ...cleanEnvironment(), ...env },
    encoding: "utf8",
    input,
    // An npm that can't reach its registry may try for ever, and no test's deadline is heard in here.
    timeout: DEADLINE_MS,
    killSignal: "SIGKILL",
  });
  if (status !== 0) throw new Error(`${file} ${args.join(" ")} failed:\n${error ?? stdout + stderr}`);
  return stdout;
}
