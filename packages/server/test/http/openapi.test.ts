import { createHash } from "node:crypto";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { ERROR_CODES, ROUTES, type Route } from "@cognition/contract";
import { Validator } from "@seriousme/openapi-schema-validator";
import { describe, expect, it } from "vitest";
import { z } from "zod";
import { defaultConfig } from "../../src/config.ts";
import { createApiKeys } from "../../src/http/auth/api-keys.ts";
import { DOCS_SCRIPT } from "../../src/http/docs/docs-script.ts";
import { openApiDocument } from "../../src/http/openapi/document.ts";
import { VERSION } from "../../src/version.ts";
import { readEvents } from "./read-events.ts";
import { startTestServer } from "./test-server.ts";

const FILE = join(import.meta.dirname, "../../../../docs/openapi.json");

/** What the tests read of the document; that it is OpenAPI is for the validator to say. */
const Document = z.looseObject({
  paths: z.record(
    z.string(),
    z.record(
      z.string(),
      z.looseObject({
        operationId: z.string(),
        parameters: z.array(z.looseObject({ name: z.string(), in: z.string() })).optional(),
        responses: z.record(z.string(), z.looseObject({ content: z.record(z.string(), z.unknown()).optional() })),
      }),
    ),
  ),
  components: z.looseObject({
    schemas: z.record(z.string(), z.looseObject({})),
    securitySchemes: z.record(
      z.string(),
      z.looseObject({ scheme: z.string().optional(), name: z.string().optional() }),
    ),
  }),
});

describe("the OpenAPI document", () => {
  const document = openApiDocument(VERSION);

  it("is committed fresh: npm run openapi", () => {
    expect(readFileSync(FILE, "utf8")).toBe(`${JSON.stringify(document, null, 2)}\n`);
  });

  it("is OpenAPI 3.1 by the standard's own schema", async () => {
    const copy = (): Record<string, unknown> => JSON.parse(JSON.stringify(document));
    expect(document["openapi"]).toMatch(/^3\.1\./);
    expect(await new Validator().validate(copy())).toEqual({ valid: true });
    expect(await new Validator().validate({ ...copy(), paths: { sessions: {} } })).toMatchObject({ valid: false });
  });

  it("names nothing that is not there, and has every route of the contract", () => {
    const { paths, components } = Document.parse(document);
    const refs = new Set([...JSON.stringify(document).matchAll(/"\$ref":"([^"]+)"/g)].map(([, ref]) => ref));
    const known = new Set(Object.keys(components.schemas).map((name) => `#/components/schemas/${name}`));
    expect([...refs].filter((ref) => !known.has(ref ?? ""))).toEqual([]);
    expect([...known].filter((name) => !refs.has(name))).toEqual([]);
    const operations = Object.entries(paths).flatMap(([path, methods]) =>
      Object.entries(methods).map(([method, operation]) => ({ path, method, operation })),
    );
    const routes = Object.entries(ROUTES) as [string, Route][];
    expect(operations.map(({ path, method, operation }) => [operation.operationId, method, path]).sort()).toEqual(
      routes.map(([name, { method, path }]) => [name, method.toLowerCase(), path]).sort(),
    );
    for (const { path, operation } of operations) {
      const named = [...path.matchAll(/\{(\w+)\}/g)].map(([, name]) => name);
      const declared =
        operation.parameters?.filter((parameter) => parameter.in === "path").map(({ name }) => name) ?? [];
      expect(declared.sort(), path).toEqual(named.sort());
    }
  });

  it("has schemas that zod reads back, and that take what the server gives", async () => {
    const { ask, createSession } = await startTestServer();
    const session = await createSession();
    expect(await (await ask("/openapi.json")).json()).toEqual(JSON.parse(JSON.stringify(document)));
    const schema = schemaOf("Session");
    expect(schema.safeParse(session).success).toBe(true);
    expect(schema.safeParse({ ...session, status: "odd" }).success).toBe(false);
  });

  it("names metadata of a query as the server takes it: a program sends members by their own names", async () => {
    const { ask, createSession } = await startTestServer();
    await createSession({ metadata: { repository: "myorg/myrepo" } });
    await createSession();
    const { parameters = [] } = Document.parse(document).paths["/sessions"]?.["get"] ?? {};
    const metadata = parameters.find(({ name }) => name === "metadata");
    expect(metadata).toMatchObject({ style: "form", explode: true });
    const schema = z.fromJSONSchema(metadata?.["schema"] as Parameters<typeof z.fromJSONSchema>[0]);
    expect(schema.safeParse({ repository: "myorg/myrepo" }).success).toBe(false);
    const example = schema.parse(metadata?.["example"]) as Record<string, string>;
    const found = await ask(`/sessions?${new URLSearchParams(example)}`);
    expect(await found.json()).toMatchObject({ total: 1 });
  });

  it("tells of each way to say who one is", async () => {
    const config = defaultConfig();
    const closed = { ...config, auth: { ...config.auth, mode: "api_key" as const } };
    const { storage, ask } = await startTestServer({ config: closed });
    const { key } = await createApiKeys(storage.apiKeys).create({ name: "any", scope: null });
    const schemes = Object.values(Document.parse(document).components.securitySchemes);
    const sent = schemes.map(
      ({ scheme, name }) => [name ?? "Authorization", `${scheme ? "Bearer " : ""}${key}`] as const,
    );
    expect(sent.map(([name]) => name)).toEqual(["Authorization", "X-API-Key"]);
    for (const header of sent) expect((await ask("/sessions", { headers: [[...header]] })).status).toBe(200);
  });

  it("has every status and type of content that the server answers with, and events as they are sent", async () => {
    const { fetch, createSession, server } = await startTestServer();
    const { id } = await createSession();
    const send = (last?: number) =>
      fetch(`/sessions/${id}/messages`, {
        method: "POST",
        json: { content: "Please say hello" },
        headers: { "Idempotency-Key": "k", ...(last && { "Last-Event-ID": String(last) }) },
      });
    const streamed = await send();
    const events = await readEvents(streamed);
    expect(events.length).toBeGreaterThan(3);
    for (const event of events) expect(() => schemaOf("StreamEvent").parse(event)).not.toThrow();
    const page = { name: "page", artifact_type: "artifact", visibility: "public", content_type: "text/html" };
    const made = await fetch("/artifacts", { method: "POST", json: { ...page, content: "<p>" } });
    const { id: artifact } = (await made.clone().json()) as { id: string };
    const answers = {
      sendMessage: [streamed, await send(events.at(-1)?.id)],
      createArtifact: [made],
      getArtifactContent: [await fetch(`/artifacts/${artifact}/content`)],
      listFiles: [await fetch(`/sessions/${id}/files`), await fetch(`/sessions/${id}/files?archive=tar`)],
      getReadiness: [await fetch("/ready")],
    };
    await server.runtime.engine.drain(0);
    answers.getReadiness.push(await fetch("/ready"));
    expect(Object.values(answers).map((of) => of.map(({ status }) => status))).toEqual([
      [200, 204],
      [201],
      [200],
      [200, 200],
      [200, 503],
    ]);
    for (const [name, of] of Object.entries(answers)) for (const answer of of) expectDeclared(name, answer);
  });

  function schemaOf(name: string) {
    const { schemas } = Document.parse(document).components;
    const text = JSON.stringify({ $defs: schemas, $ref: `#/$defs/${name}` });
    return z.fromJSONSchema(JSON.parse(text.replaceAll("#/components/schemas/", "#/$defs/")));
  }

  function expectDeclared(name: string, { status, headers }: Response): void {
    const operations = Object.values(Document.parse(document).paths).flatMap((methods) => Object.values(methods));
    const declared = operations.find(({ operationId }) => operationId === name)?.responses[status];
    expect(declared, `${name} ${status}`).toBeDefined();
    const types: (string | undefined)[] = declared?.content ? Object.keys(declared.content) : [undefined];
    const type = headers.get("Content-Type")?.split(";")[0];
    expect(types.includes("*/*") || types.includes(type), `${name} ${status}: ${type}`).toBe(true);
  }
});

describe("the docs page", () => {
  it("takes metadata of a query with its prefix, as it describes it, and without", () => {
    const queryOf = new Function("document", `${DOCS_SCRIPT}; return queryOf`)({ querySelectorAll: () => [] });
    for (const value of ["metadata.a.b=c d&metadata.e=f", "a.b=c d&e=f"]) {
      expect(queryOf({ name: "metadata", value })).toEqual([
        ["metadata.a.b", "c d"],
        ["metadata.e", "f"],
      ]);
    }
    expect(queryOf({ name: "limit", value: "1" })).toEqual([["limit", "1"]]);
  });

  it("is where a browser goes from the bare address; a program is told that there is nothing", async () => {
    const { ask } = await startTestServer();
    const shown = await ask("/", { headers: { Accept: "text/html,*/*;q=0.8" }, redirect: "manual" });
    expect([shown.status, shown.headers.get("Location")]).toEqual([302, "docs"]);
    expect((await ask("/")).status).toBe(404);
  });

  it("needs nothing from elsewhere, and its policy allows exactly its own script and style", async () => {
    const { ask } = await startTestServer();
    const response = await ask("/docs");
    const page = await response.text();
    expect(response.headers.get("Content-Type")).toBe("text/html; charset=utf-8");
    const policy = response.headers.get("Content-Security-Policy") ?? "";
    const hashOf = (text = "") => `'sha256-${createHash("sha256").update(text).digest("base64")}'`;
    expect(policy).toContain(`script-src ${hashOf(page.match(/<script>([\s\S]*?)<\/script>/)?.[1])}`);
    expect(policy).toContain(`style-src ${hashOf(page.match(/<style>([\s\S]*?)<\/style>/)?.[1])}`);
    expect(page).not.toMatch(/(src|href)="(https?:)?\//); // nor from above: a proxy may have it below a path
    expect(page).toContain("<code>X-Cognition-Scope-&#60;Key&#62;</code>");
    expect(page).not.toMatch(/ (on\w+|style)="/);
    expect(page.match(/<script/g)).toHaveLength(1);
    for (const name of Object.keys(ROUTES)) expect(page).toContain(`<details id="${name}">`);
    for (const { code } of ERROR_CODES) expect(page).toContain(`<tr id="${code}">`);
  });
});
