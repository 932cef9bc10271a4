import { execFileSync } from "node:child_process";
import { symlink } from "node:fs/promises";
import type { RequestListener } from "node:http";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { createGuardedFetch } from "../../src/outgoing/guarded-fetch.ts";
import { createBuiltinTools } from "../../src/tool/builtin-tools.ts";
import { convertPage } from "../../src/tool/convert-page.ts";
import { createDuckDuckGo } from "../../src/tool/duckduckgo.ts";
import { createSearxng } from "../../src/tool/searxng.ts";
import type { ToolContext, ToolOutput, ToolResult } from "../../src/tool/tool.ts";
import { parseToolArgs } from "../../src/tool/tool-schema.ts";
import { openToolContext, type TestContext } from "./tool-context.ts";
import { startWebServer, type WebServer } from "./web-server.ts";
import { createWorkspace, type Workspace } from "./workspace.ts";

const fetch = createGuardedFetch({ allow: ["127.0.0.1"] });
let test: TestContext;
let workspace: Workspace;
const web: WebServer[] = [];

beforeEach(async () => {
  workspace = await createWorkspace();
  test = await openToolContext({ workspace: workspace.root });
});
afterEach(async () => {
  await Promise.all(web.splice(0).map((server) => server.close()));
  await test.close();
  await workspace.dispose();
});

async function serve(listener: RequestListener): Promise<string> {
  const server = await startWebServer(listener);
  web.push(server);
  return server.url;
}
const html = (body: string, type = "text/html") =>
  serve((_req, res) => res.writeHead(200, { "content-type": type }).end(body));

let tools = createBuiltinTools({ fetch });
beforeEach(() => {
  tools = createBuiltinTools({ fetch });
});

async function call(name: string, args: object, context: Partial<ToolContext> = {}): Promise<ToolResult> {
  const tool = tools.find((candidate) => candidate.name === name);
  if (!tool) throw new Error(`no tool ${name}`);
  return tool.run(await parseToolArgs(tool, args), { ...test.context, ...context });
}
const output = async (result: Promise<ToolResult>) => ((await result) as ToolOutput).output ?? (await result);

describe("browser", () => {
  const page = `<html><head><title>A  page</title><style>p{}</style><script>alert(1)</script></head><body>
    <h1>Head</h1><p>Some <b>bold</b> text &amp; <a href="/next?a=1">a link</a>.</p><ul><li>one</li><li>two</li></ul>
    <script>track()</script></body></html>`;

  it("gives a page as markdown, with links that can be followed", async () => {
    const url = await html(page);
    const text = (await call("browser", { url })) as string;
    expect(text).toContain(`A page\n${url}/\n\n# Head`);
    expect(text).toContain(`Some **bold** text & [a link](${url}/next?a=1).`);
    expect(text).toMatch(/- +one\n- +two/);
    expect(text).not.toMatch(/alert|track|p\{\}/);
  });

  it("as text and as html", async () => {
    const url = await html(page);
    expect(await call("browser", { url, format: "text" })).toBe(
      `A page\n${url}/\n\nHead\n\nSome bold text & a link.\n\none\n\ntwo`,
    );
    expect(await call("browser", { url, format: "html" })).toBe(page);
  });

  it.each(["markdown", "text"])("of any depth as %s", async (format) => {
    const url = await html(`${"<div>".repeat(20_000)}deep${"</div>".repeat(20_000)}`);
    expect(await call("browser", { url, format })).toContain("deep");
  });

  it("that takes too long is given up, and nothing else stands still meanwhile", async () => {
    const page = { html: `${"<b>x".repeat(60_000)}`, url: "http://x.example", format: "markdown" as const };
    const { signal } = test.context;
    await expect(convertPage(page, { signal, timeoutMs: 300 })).rejects.toThrow("took longer than 300 ms");
    const controller = new AbortController();
    const pending = convertPage(page, { signal: controller.signal, timeoutMs: 50_000 });
    for (let turn = 0; turn < 10; turn++) await new Promise((resolve) => setTimeout(resolve, 5));
    controller.abort(new Error("enough"));
    await expect(pending).rejects.toThrow("enough");
  });

  it("reads other text as it is, in its own encoding", async () => {
    expect(await call("browser", { url: await html('{"a":1}', "application/json") })).toBe('{"a":1}');
    const latin = await serve((_req, res) =>
      res.writeHead(200, { "content-type": "text/plain; charset=iso-8859-1" }).end(Buffer.from([0xe9])),
    );
    expect(await call("browser", { url: latin })).toBe("é");
  });

  it.each([
    [
      "an XML declaration",
      "application/xml",
      Buffer.from('<?xml version="1.0" encoding="ISO-8859-1"?><a>é</a>', "latin1"),
    ],
    ["a byte order mark", "text/plain; charset=utf-8", Buffer.from("\ufeff<a>é</a>", "utf16le")],
    ["a byte order mark of UTF-8", "text/plain; charset=iso-8859-1", Buffer.from("\ufeff<a>é</a>")],
  ])("knows the encoding by %s", async (_name, type, body) => {
    const url = await serve((_req, res) => res.writeHead(200, { "content-type": type }).end(body));
    expect(await call("browser", { url })).toContain("<a>é</a>");
  });

  it("refuses what is not text", async () => {
    await expect(call("browser", { url: await html("x", "image/png") })).rejects.toThrow("image/png");
  });

  it("an answer of an error is an error, with what it said", async () => {
    const url = await serve((_req, res) => res.writeHead(404, { "content-type": "text/plain" }).end("no such page"));
    await expect(call("browser", { url })).rejects.toThrow(/answered 404: no such page/);
  });

  it("cuts off what is too long, and says so", async () => {
    const text = (await call("browser", { url: await html("x".repeat(3_000_000), "text/plain") })) as string;
    expect(text.length).toBeLessThan(110_000);
    expect(text).toContain("cut off");
  });

  it("refuses private addresses unless they are allowed", async () => {
    tools = createBuiltinTools({ fetch: createGuardedFetch() });
    await expect(call("browser", { url: "http://127.0.0.1:1/" })).rejects.toMatchObject({ code: "address_refused" });
  });

  it("stops when the run is aborted", async () => {
    const controller = new AbortController();
    const url = await serve(() => controller.abort(new Error("enough")));
    await expect(call("browser", { url }, { signal: controller.signal })).rejects.toThrow("enough");
  });
});

describe("search", () => {
  const results = `<div class="result result--ad"><a class="result__a" href="https://ads.example">Ad</a></div>
    <div class="result"><a class="result__a" href="//duckduckgo.com/l/?uddg=https%3A%2F%2Fone.example%2Fa%3Fb%3D1&rut=x">First <b>hit</b></a>
      <a class="result__snippet">About   the &amp; first</a></div>
    <div class="result"><a class="result__a" href="https://two.example/">Second</a></div>
    <div class="result"><a class="result__a" href="javascript:alert(1)">Bad</a></div>`;
  const useDuckDuckGo = (baseUrl: string) => {
    tools = createBuiltinTools({ fetch, searchProvider: createDuckDuckGo({ fetch, baseUrl }) });
  };

  it("asks DuckDuckGo and gives title, address and snippet", async () => {
    let asked = "";
    useDuckDuckGo(
      await serve((req, res) => {
        asked = req.url ?? "";
        res.end(results);
      }),
    );
    const found = await call("search", { query: "what & why?" });
    expect(new URL(asked, "http://x").searchParams.get("q")).toBe("what & why?");
    expect(found).toEqual({
      output:
        "1. First hit\n   https://one.example/a?b=1\n   About the & first\n2. Second\n   https://two.example/\n   ",
      artifact: [
        { title: "First hit", url: "https://one.example/a?b=1", snippet: "About the & first" },
        { title: "Second", url: "https://two.example/", snippet: "" },
      ],
    });
    expect(((await call("search", { query: "x", limit: 1 })) as ToolOutput).artifact).toHaveLength(1);
  });

  it("says so when nothing was found", async () => {
    useDuckDuckGo(await html("<div class='no-results'></div>"));
    expect(await output(call("search", { query: "x" }))).toContain("found nothing");
  });

  it.each([
    [202, ""],
    [200, "<form id='challenge-form'></form>"],
  ])("being refused (%i) is an error, not an empty result", async (status, body) => {
    useDuckDuckGo(await serve((_req, res) => res.writeHead(status).end(body)));
    await expect(call("search", { query: "x" })).rejects.toThrow("configure another search provider");
  });

  it("can use a SearXNG of one's own", async () => {
    const baseUrl = await html(JSON.stringify({ results: [{ title: "T", url: "https://t.example", content: "C" }] }));
    tools = createBuiltinTools({ fetch, searchProvider: createSearxng({ fetch, baseUrl }) });
    expect(await output(call("search", { query: "x" }))).toBe("1. T\n   https://t.example\n   C");
    tools = createBuiltinTools({ fetch, searchProvider: createSearxng({ fetch, baseUrl: await html("<html>") }) });
    await expect(call("search", { query: "x" })).rejects.toThrow("SearXNG");
  });

  it("can use a SearXNG below a path, and the results that are pages", async () => {
    const results = [
      { kvmap: { a: 1 }, url: null },
      { title: "T", url: "https://t.example", content: "C" },
    ];
    const root = await serve((req, res) => {
      const found = req.url?.startsWith("/searxng/search?q=x&");
      res.writeHead(found ? 200 : 404).end(JSON.stringify({ results }));
    });
    for (const baseUrl of [`${root}/searxng`, `${root}/searxng/`]) {
      tools = createBuiltinTools({ fetch, searchProvider: createSearxng({ fetch, baseUrl }) });
      expect(await output(call("search", { query: "x" }))).toBe("1. T\n   https://t.example\n   C");
    }
  });
});

describe("inspect_package", () => {
  it("tells about an installed package without running it", async () => {
    const manifest = {
      name: "@scope/thing",
      version: "1.2.3",
      description: "A thing",
      exports: { ".": { import: { types: "./dist/index.d.ts", default: "./dist/index.js" } }, "./sub": "./sub.js" },
      dependencies: { left: "^1.0.0" },
    };
    await workspace.write({
      "node_modules/@scope/thing/package.json": JSON.stringify(manifest),
      "node_modules/@scope/thing/dist/index.js": "throw new Error('was run')",
      "node_modules/@scope/thing/dist/index.d.ts":
        "export declare function go(): void;\nexport { A, type B as C } from './a';\nexport * from './more';\nexport interface Opts {}",
    });
    expect(JSON.parse((await call("inspect_package", { name: "@scope/thing" })) as string)).toEqual({
      name: "@scope/thing",
      version: "1.2.3",
      description: "A thing",
      exports: [".", "./sub"],
      types: "./dist/index.d.ts",
      exported_names: ["go", "Opts", "A", "C", '* from "./more"'],
      dependencies: { left: "^1.0.0" },
    });
  });

  it("tells about the workspace's own package", async () => {
    await workspace.write({ "package.json": '{"name":"mine","version":"0.0.1"}' });
    expect(JSON.parse((await call("inspect_package", {})) as string)).toMatchObject({ name: "mine", types: null });
  });

  it.each(["../outside", "/etc", "a/../../b", "a/b/c", "", ".", "@x", "a\0b"])("refuses the name %j", async (name) => {
    await expect(call("inspect_package", { name })).rejects.toMatchObject({ code: "validation_failed" });
  });

  it("follows no link out of the workspace, for the manifest or for the types", async () => {
    const outside = await createWorkspace({ "package.json": '{"name":"secret"}', "a.d.ts": "export const secret: 1;" });
    await workspace.write({
      "node_modules/x": "",
      "node_modules/y/package.json": '{"name":"y","types":"./a.d.ts"}',
      "node_modules/z/package.json": `{"name":"z","types":"../../../${outside.root.split("/").at(-1)}/a.d.ts"}`,
    });
    await workspace.remove("node_modules/x");
    await symlink(outside.root, workspace.path("node_modules/x"));
    await symlink(outside.path("a.d.ts"), workspace.path("node_modules/y/a.d.ts"));
    await expect(call("inspect_package", { name: "x" })).rejects.toMatchObject({ code: "file_not_found" });
    for (const name of ["y", "z"]) {
      expect(JSON.parse((await call("inspect_package", { name })) as string)).toMatchObject({ exported_names: [] });
    }
    await outside.dispose();
  });

  it.each(["\n", "export {\n"])("holds nobody up over a declaration file of nothing but %j", async (line) => {
    const lines = line.repeat(40_000);
    await workspace.write({
      "package.json": '{"name":"mine","types":"./a.d.ts"}',
      "a.d.ts": `${lines}export const last: 1;`,
    });
    const before = performance.now();
    const report = JSON.parse((await call("inspect_package", {})) as string);
    expect(performance.now() - before).toBeLessThan(2_000); // it took ten seconds, and a megabyte hours
    expect(report).toMatchObject({ exported_names: ["last"] });
  });

  it("says what is not there or not valid", async () => {
    await workspace.write({ "node_modules/bad/package.json": "{" });
    await expect(call("inspect_package", { name: "none" })).rejects.toThrow("none is not installed");
    await expect(call("inspect_package", { name: "bad" })).rejects.toThrow("not valid");
    execFileSync("mkfifo", [workspace.path("package.json")]);
    await expect(call("inspect_package", {})).rejects.toThrow("not a regular file");
  });
});

describe("artifacts", () => {
  it("are saved, read and listed; the same name makes a new version, equal content none", async () => {
    expect(await call("list_artifacts", {})).toBe("There are no artifacts.");
    expect(await output(call("save_artifact", { name: "r.md", content: "one" }))).toContain("version 1");
    expect(await output(call("save_artifact", { name: "r.md", content: "two" }))).toContain("version 2");
    expect(await output(call("save_artifact", { name: "r.md", content: "two" }))).toContain("version 2");
    expect(await call("read_artifact", { name: "r.md" })).toBe("two");
    expect(await call("read_artifact", { name: "r.md", version: 1 })).toBe("one");
    expect(await call("list_artifacts", {})).toMatch(/^1 of 1:\nr\.md \(id .*, artifact, version 2, 3 bytes\)$/);
  });

  it("of another session are not there", async () => {
    const other = await openToolContext();
    await call("save_artifact", { name: "r.md", content: "mine" });
    await expect(call("read_artifact", { name: "r.md" }, other.context)).rejects.toMatchObject({
      code: "artifact_not_found",
    });
    await other.close();
    await expect(call("read_artifact", {})).rejects.toMatchObject({ code: "validation_failed" });
  });
});

describe("memory", () => {
  it("is kept, found and forgotten", async () => {
    expect(await call("recall", {})).toBe("Nothing is remembered about that.");
    await call("remember", { key: "colour", content: "likes green" });
    await call("remember", { key: "city", content: "lives in Oslo" });
    expect(await call("recall", { key: "colour" })).toBe("colour: likes green");
    expect(await call("recall", { query: "Oslo" })).toContain("city: lives in Oslo");
    await call("remember", { key: "colour", content: "likes blue" });
    expect(await call("recall", {})).toBe("city: lives in Oslo\ncolour: likes blue");
    expect(await call("forget", { key: "colour" })).toBe("Forgot colour.");
    expect(await call("forget", { key: "colour" })).toBe("Nothing is remembered under colour.");
    expect(await call("recall", { key: "colour" })).toBe("Nothing is remembered about that.");
  });
});
