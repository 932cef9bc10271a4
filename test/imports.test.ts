import { globSync, readFileSync } from "node:fs";
import { isBuiltin } from "node:module";
import { join, sep } from "node:path";
import { describe, expect, test } from "vitest";
import { findViolations } from "../testing/import-rules.ts";
import { parseModule } from "../testing/read-imports.ts";

const root = join(import.meta.dirname, "..");

describe("imports of the packages", () => {
  const files = globSync("packages/*/{src,page}/**/*.{ts,mts,cts,tsx,js,mjs}", { cwd: root }).map((file) =>
    file.replaceAll(sep, "/"),
  );

  test("are read from every package there is", () => {
    const scanned = new Set(files.map((file) => file.split("/")[1]));
    const present = globSync("packages/*/package.json", { cwd: root }).map((file) => file.split(sep)[1]);
    expect(present).not.toEqual([]);
    expect([...scanned].sort()).toEqual(present.sort());
  });

  test("go only in the allowed directions", () => {
    const violations = files.flatMap((file) => violationsIn(file, readFileSync(join(root, file), "utf8")));
    expect(violations).toEqual([]);
  });

  // In this repository everything is installed; whoever installs one of the packages has what it names.
  test("name only what the package says that it needs", () => {
    expect(files.flatMap(undeclaredIn)).toEqual([]);
  });
});

describe("reading imports", () => {
  test.each([
    ["import", `import a from "x";`],
    ["import", `import "x";`],
    ["import", `import a, { type b } from "x" with { type: "json" };`],
    ["import type", `import type { a } from "x";`],
    ["re-export", `export { a } from "x";`],
    ["re-export", `export type { a } from "x";`],
    ["re-export", `export * from "x";`],
    ["re-export", `export * as a from "x";`],
    ["import()", `async function f() { return await import("x"); }`],
    ["import()", "const a = import(`x`);"],
    ["import() type", `let a: import("x").A;`],
    ["import() type", `let a: typeof import("x");`],
    ["require", `const a = require("x");`],
    ["require", `const a = createRequire(import.meta.url)("x");`],
    ["require", `import a = require("x");`],
    ["require", `const a = process.getBuiltinModule("x");`],
    ["resolve", `const a = require.resolve("x");`],
    ["resolve", `const a = import.meta.resolve("x");`],
  ])("sees %s in %s", (kind, source) => {
    const found = parseModule("a.ts", `// first line\n${source}`).imports.filter((item) => item.specifier === "x");
    expect(found).toEqual([{ kind, specifier: "x", line: 2 }]);
  });

  test("takes no string, comment or other resolve() for an import", () => {
    const source = `// import "x"\nconst a = 'import "x"'; path.resolve("x"); Promise.resolve("x");`;
    expect(parseModule("a.ts", source).imports).toEqual([]);
  });

  test("refuses a file that it cannot parse", () => {
    expect(() => parseModule("a.ts", "import {")).toThrow("a.ts cannot be parsed");
  });
});

describe("each rule fails on", () => {
  test.each([
    ["contract/src/a.ts", `import "@cognition/thread";`, "contract may import no package"],
    ["contract/src/a.ts", `import "kysely";`, "contract may import zod"],
    ["contract/src/a.ts", `import "node:fs";`, "contract may import zod"],
    ["thread/src/a.ts", `import type { A } from "@cognition/server";`, "thread may import contract"],
    ["thread/src/a.ts", `import "@cognition/thread";`, "thread may import contract"],
    ["client/src/a.ts", `import "@cognition/thread";`, "client may import contract"],
    ["client/src/a.ts", `import "eventsource";`, "client may import no dependency"],
    ["server/src/a.ts", `import "@cognition/cli";`, "server may import contract, thread"],
    ["console/src/a.ts", `import "@cognition/server";`, "console may import client"],
    ["other/src/a.ts", `import "@cognition/contract";`, "no place in the package order"],
    ["thread/src/a.ts", `import "../../contract/src/index.ts";`, "import another package by its name"],
    ["thread/src/a.ts", `import "../test/b.ts";`, "leaves packages/thread/src/"],
    ["thread/src/a.ts", `import "@cognition/contract/src/index.ts";`, "not its files"],
    ["thread/src/chat/a.ts", `import pg from "pg";`, "pg may be imported only in thread/src/sql/"],
    ["thread/src/a.ts", `const { DatabaseSync } = await import("node:sqlite");`, "node:sqlite may be imported only"],
    ["server/src/run/a.ts", `import type { Pool } from "pg";`, "pg may be imported only"],
    [
      "thread/src/sql/a.ts",
      `import type { A } from "@langchain/core/messages";`,
      "@langchain/core may be imported only",
    ],
    ["thread/src/index.ts", `export type { A } from "@langchain/core";`, "@langchain/core may be imported only"],
    ["server/src/agent/a.ts", `let a: import("deepagents").A;`, "deepagents may be imported only"],
    ["server/src/model/a.ts", `import { createAgent } from "langchain";`, "langchain may be imported only"],
    ["server/src/model/a.ts", `import "@langchain/langgraph";`, "@langchain/langgraph may be imported only"],
    [
      "server/src/run/a.ts",
      `import type { A } from "@langchain/core/messages";`,
      "@langchain/core may be imported only",
    ],
    ["server/src/runtime/a.ts", `await import("@langchain/openai");`, "only in server/src/model/"],
    ["thread/src/sql/a.ts", `import "http";`, "node:http may be imported only"],
    ["server/src/run/a.ts", `import "hono";`, "hono may be imported only in server/src/http/"],
    ["server/src/tool/a.ts", `import "dockerode";`, "dockerode may be imported only"],
    ["server/src/runtime/a.ts", `import "@modelcontextprotocol/sdk/client/index.js";`, "only in server/src/tool/"],
    ["server/src/tool/a.ts", "const a = await import(name);", "must be a plain string"],
    ["server/src/tool/load-tool-module.ts", `import "/etc/a.js";`, "must be a plain string"],
    ["server/src/tool/load-tool-module.ts", "const a = require(name);", "must be a plain string"],
    ["server/src/http/a.ts", `import "../runtime/graph.ts";`, "runtime/ is joined in compose.ts"],
    ["server/src/run/a.ts", `import "../webhook/outbox.ts";`, "webhook/ is joined in compose.ts"],
    ["server/src/tool/a.ts", `import "../sandbox/docker/docker.ts";`, "import its port sandbox/sandbox.ts"],
    ["server/src/run/a.ts", `import "../compose.ts";`, "only main.ts and index.ts import compose.ts"],
    ["cli/page/a.ts", `import "node:fs";`, "cli/page may import no dependency"],
    ["cli/page/a.ts", `import "@cognition/server";`, "cli/page may import contract, client"],
    ["cli/page/a.ts", `import "../src/a.ts";`, "leaves packages/cli/page/"],
    ["cli/src/a.ts", `import "../page/a.ts";`, "leaves packages/cli/src/"],
    ["thread/src/a.ts", "const a = await import(name);", "must be a plain string"],
    ["thread/src/a.ts", `import "/etc/a.js";`, "must be a plain string"],
    ["thread/src/a.ts", `import "#a";`, "must be a plain string"],
    ["thread/src/sql/index.ts", "export const a = 1;", "is a barrel"],
    ["thread/src/all.ts", `export * from "./a.ts";\nexport const b = 1;`, "is a barrel"],
    ["thread/src/all.ts", `import { a } from "./a.ts";\nexport { a };`, "is a barrel"],
  ])("%s: %s", (file, source, message) => {
    const violations = violationsIn(`packages/${file}`, source);
    expect(violations).toHaveLength(1);
    expect(violations[0]).toContain(message);
  });
});

describe("the rules allow", () => {
  test.each([
    ["contract/src/a.ts", `import { z } from "zod";\nimport "./b.ts";\nexport const c = 1;`],
    ["thread/src/index.ts", `export * from "./storage.ts";\nexport { a } from "./checkpoint/a.ts";`],
    ["thread/src/conformance/index.ts", `export * from "./storage.ts";\nimport "@langchain/core";`],
    ["thread/src/sql/a.ts", `import pg from "pg";\nimport "node:sqlite";\nimport "@cognition/contract";`],
    ["thread/src/checkpoint/a.ts", `import { B } from "@langchain/langgraph-checkpoint";\nimport "../storage.ts";`],
    ["server/src/model/a.ts", `import "@langchain/core/messages";\nconst a = await import("@langchain/anthropic");`],
    ["server/src/compose.ts", `import "./http/app.ts";\nimport "./sandbox/docker/docker.ts";\nimport "hono";`],
    ["server/src/main.ts", `import "./compose.ts";`],
    ["server/src/http/routes/a.ts", `import "hono";\nimport "../app.ts";\nimport "../../run/admission.ts";`],
    ["server/src/tool/a.ts", `import type { Sandbox } from "../sandbox/sandbox.ts";`],
    ["server/src/tool/a.ts", `import { Client } from "@modelcontextprotocol/sdk/client/index.js";`],
    ["server/src/tool/load-tool-module.ts", "const a = await import(name);"],
    ["cli/page/a.ts", `import "./b.ts";\nimport "@cognition/client";\nimport type { A } from "@cognition/contract";`],
    [
      "cli/src/a.ts",
      `import "@cognition/client";\nimport "@cognition/server";\nimport "@cognition/thread/conformance";`,
    ],
  ])("%s: %s", (file, source) => {
    expect(violationsIn(`packages/${file}`, source)).toEqual([]);
  });
});

function violationsIn(file: string, source: string): string[] {
  return findViolations(file, parseModule(file, source));
}

function undeclaredIn(file: string): string[] {
  const manifest = JSON.parse(readFileSync(join(root, file.split("/").slice(0, 2).join("/"), "package.json"), "utf8"));
  const declared = { ...manifest.dependencies, ...manifest.peerDependencies, ...manifest.optionalDependencies };
  return parseModule(file, readFileSync(join(root, file), "utf8")).imports.flatMap(({ specifier = "." }) => {
    const name = /^(?:@[^/]+\/)?[^/]+/.exec(specifier)?.[0] ?? "";
    return specifier.startsWith(".") || isBuiltin(specifier) || name in declared ? [] : [`${file}: ${name}`];
  });
}
