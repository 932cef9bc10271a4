import { spawnSync } from "node:child_process";
import { existsSync, globSync, readFileSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { createTempDir } from "../testing/temp-dir.ts";

const root = join(import.meta.dirname, "..");
const packages = ["contract", "thread"];
const dir = createTempDir("cognition-package-");
const installed = join(dir.path, "node_modules", "@cognition");

describe("the packed packages", () => {
  beforeAll(() => {
    npm(root, "run", "build");
    const workspaces = packages.map((name) => `--workspace=packages/${name}`);
    npm(root, "pack", ...workspaces, `--pack-destination=${dir.path}`);
    writeFileSync(join(dir.path, "package.json"), JSON.stringify({ private: true, type: "module" }));
    npm(dir.path, "install", "--no-audit", "--no-fund", ...globSync(join(dir.path, "*.tgz")), ...peers());
  }, 300_000);
  afterAll(dir.remove);

  test.each(packages)("%s ships JavaScript with its types and no source", (name) => {
    const files = globSync("**/*", { cwd: join(installed, name) });
    expect(files).toEqual(
      expect.arrayContaining(["package.json", join("dist", "index.js"), join("dist", "index.d.ts")]),
    );
    expect(files.filter((file) => /^(src|test)\b|(?<!\.d)\.ts$|tsbuildinfo/.test(file))).toEqual([]);
  });

  test.each(packages)("%s refers only to files that it ships", (name) => {
    const missing = globSync("dist/**/*.{js,d.ts}", { cwd: join(installed, name) }).flatMap((file) =>
      missingFiles(join(installed, name, file)),
    );
    expect(missing).toEqual([]);
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
});

/** Peers, and the graph engine, at the versions that the package is developed with; npm alone would take the newest. */
function peers(): string[] {
  const { peerDependencies, peerDependenciesMeta, devDependencies } = JSON.parse(
    readFileSync(join(root, "packages/thread/package.json"), "utf8"),
  );
  const needed = Object.keys(peerDependencies).filter((name) => !peerDependenciesMeta[name]?.optional);
  return [...needed, "@langchain/langgraph"].map((name) => `${name}@${devDependencies[name]}`);
}

function missingFiles(file: string): string[] {
  const specifiers = readFileSync(file, "utf8").matchAll(/(?:from|import|import\() ?"(\.[^"]+)"/g);
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

function npm(cwd: string, ...args: string[]): string {
  const cli = process.env["npm_execpath"];
  return cli ? run(cwd, process.execPath, [cli, ...args]) : run(cwd, "npm", args);
}

/** Without what an outer npm has put into the environment: it would make the inner one work in the outer's folder. */
function run(cwd: string, file: string, args: string[]): string {
  const outer = /^(npm_(?!config_(registry|cache|userconfig)$)|NODE_OPTIONS$|INIT_CWD$)/;
  const env = Object.fromEntries(Object.entries(process.env).filter(([name]) => !outer.test(name)));
  const { status, stdout, stderr, error } = spawnSync(file, args, { cwd, env, encoding: "utf8" });
  if (status !== 0) throw new Error(`${file} ${args.join(" ")} failed:\n${error ?? stdout + stderr}`);
  return stdout;
}
