import { defaultConfig, type RunningServer, type StartServerOptions, startServer } from "@cognition/server";
import { openStorage } from "@cognition/thread";
import { describe, expect, onTestFinished, test } from "vitest";
import { createTempDir } from "../../../testing/temp-dir.ts";
import { loadPage } from "../src/load-page.ts";

const HTML = { Accept: "text/html,application/xhtml+xml,*/*;q=0.8" };
const config = defaultConfig();

async function serve(options: Partial<StartServerOptions> = {}): Promise<RunningServer> {
  const dir = createTempDir();
  const storage = await openStorage("memory");
  const server = await startServer({
    ...{ storage, workspace_root: dir.path, env: {}, config, port: 0, works: false, page: loadPage },
    onError: (error) => {
      throw error;
    },
    ...options,
  });
  onTestFinished(async () => {
    await server.close(0);
    await storage.close();
    dir.remove();
  });
  return server;
}

describe("the chat page over HTTP", () => {
  test("a browser is shown the page, and any other client is told what it always was", async () => {
    const { url } = await serve();
    const shown = await fetch(url, { headers: HTML });
    expect([shown.status, shown.headers.get("Content-Type")]).toEqual([200, "text/html; charset=utf-8"]);
    expect(shown.headers.get("Vary")).toContain("Accept");
    expect(await shown.text()).toContain("<title>Cognition</title>");
    for (const headers of [{}, { Accept: "application/json" }]) {
      const told = await fetch(url, { headers });
      expect([told.status, await told.json()]).toMatchObject([404, { code: "route_not_found" }]);
    }
    expect((await fetch(url, { method: "POST", headers: HTML })).status).toBe(404);
    expect((await fetch(`${url}/docs`, { headers: HTML })).status).toBe(200);
    const head = await fetch(url, { method: "HEAD", headers: HTML });
    expect([head.status, await head.text()]).toEqual([200, ""]);
  });

  test("every file says what it is, and may do nothing but be this page", async () => {
    const { url } = await serve();
    for (const path of (await loadPage()).keys()) {
      const { status, headers } = await fetch(url + path, { headers: HTML });
      expect([path, status]).toEqual([path, 200]);
      expect(headers.get("Content-Type")).toMatch(/^(text\/(html|css|javascript)|image\/svg\+xml); charset=utf-8$/);
      expect(headers.get("X-Content-Type-Options")).toBe("nosniff");
      expect(headers.get("X-Frame-Options")).toBe("DENY");
      expect(headers.get("Cache-Control")).toBe("no-cache");
      const policy = headers.get("Content-Security-Policy")?.split("; ");
      expect(policy).toEqual(expect.arrayContaining(["default-src 'none'", "script-src 'self'", "style-src 'self'"]));
      expect(policy).toEqual(expect.arrayContaining(["connect-src 'self'", "frame-ancestors 'none'"]));
      expect(policy?.join()).not.toMatch(/unsafe|\*/);
    }
  });

  test("what has not changed is not sent again", async () => {
    const { url } = await serve();
    const etag = (await fetch(`${url}/page/page.css`)).headers.get("ETag") ?? "";
    expect((await fetch(`${url}/page/page.css`, { headers: { "If-None-Match": etag } })).status).toBe(304);
    expect((await fetch(`${url}/page/page.css`, { headers: { "If-None-Match": '"older"' } })).status).toBe(200);
    expect((await fetch(`${url}/page/icon.svg`, { headers: { "If-None-Match": etag } })).status).toBe(200);
  });

  test.each([
    "/page",
    "/page/",
    "/page/index.html",
    "/page/app/main.ts",
    "/page/app/../../package.json",
    "/page/app/..%2f..%2fpackage.json",
    "/page/%2e%2e/package.json",
    "/page/tsconfig.json",
    "/page/contract/index.js",
    "/page/app/main.js/",
    "//page/page.css",
  ])("there is no %s", async (path) => {
    const { runtime } = await serve();
    const answer = await runtime.http.app.request(`http://localhost${path}`, { headers: HTML });
    expect(answer.status).toBe(404);
  });

  test("switched off, browsers are led to the docs and none of its files is there", async () => {
    const { url } = await serve({ config: { ...config, server: { ...config.server, page: false } } });
    const shown = await fetch(url, { headers: HTML, redirect: "manual" });
    expect([shown.status, shown.headers.get("Location")]).toEqual([302, "docs"]);
    expect((await fetch(`${url}/page/page.css`)).status).toBe(404);
  });

  test("is there for whoever has no credential yet, and for no page of another origin", async () => {
    const { url } = await serve({ config: { ...config, auth: { ...config.auth, mode: "api_key" } } });
    expect((await fetch(url, { headers: HTML })).status).toBe(200);
    expect((await fetch(`${url}/sessions`)).status).toBe(401);
    const foreign = await fetch(`${url}/page/app/main.js`, { headers: { Origin: "https://evil.example" } });
    expect(foreign.status).toBe(403);
  });

  test("files that could not be read are looked for again", async () => {
    const faults: unknown[] = [];
    let isAway = true;
    const page = async () => {
      if (isAway) throw new Error("no such file");
      return loadPage();
    };
    const { url } = await serve({ page, onError: (error) => faults.push(error) });
    expect((await fetch(url, { headers: HTML })).status).toBe(500);
    expect(faults).toMatchObject([{ message: "no such file" }]);
    isAway = false;
    expect((await fetch(url, { headers: HTML })).status).toBe(200);
  });
});

describe("the page's files", () => {
  test("lead to each other by paths that are there, without markup that holds a script or a style", async () => {
    const files = await loadPage();
    const html = files.get("/")?.text ?? "";
    expect(html).not.toMatch(/<style|<script(?![^>]* src=)| on\w+="| style="|https?:\/\//);
    for (const [, path] of html.matchAll(/(?:src|href)="(page\/[^"]+)"/g))
      expect(files.has(`/${path}`), path).toBe(true);
    const modules = [...files].filter(([path]) => path.endsWith(".js"));
    expect(modules.length).toBeGreaterThan(15);
    for (const [path, { text }] of modules) {
      for (const [, specifier = ""] of text.matchAll(/\b(?:from|import) ?"([^"]+)"/g)) {
        expect(files.has(new URL(specifier, `http://page${path}`).pathname), `${path}: ${specifier}`).toBe(true);
      }
      expect(text).not.toMatch(/innerHTML|outerHTML|insertAdjacentHTML|document\.write|\beval\(|new Function/);
    }
  });

  test("carry neither zod nor anything of Node", async () => {
    const texts = [...(await loadPage())].map(([, { text }]) => text).join("\n");
    expect(texts).not.toMatch(/zod"|node:/i);
  });
});
