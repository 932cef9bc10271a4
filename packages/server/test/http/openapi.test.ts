import { createHash } from "node:crypto";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { ERROR_CODES, ROUTES, type Route } from "@cognition/contract";
import { Validator } from "@seriousme/openapi-schema-validator";
import { describe, expect, it } from "vitest";
import { z } from "zod";
import { openApiDocument } from "../../src/http/openapi/document.ts";
import { VERSION } from "../../src/version.ts";
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
      }),
    ),
  ),
  components: z.looseObject({ schemas: z.record(z.string(), z.looseObject({})) }),
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
    const served = (await (await ask("/openapi.json")).json()) as { components: { schemas: Record<string, object> } };
    expect(served).toEqual(JSON.parse(JSON.stringify(document)));
    const text = JSON.stringify({ $defs: served.components.schemas, $ref: "#/$defs/Session" });
    const schema = z.fromJSONSchema(JSON.parse(text.replaceAll("#/components/schemas/", "#/$defs/")));
    expect(schema.safeParse(session).success).toBe(true);
    expect(schema.safeParse({ ...session, status: "odd" }).success).toBe(false);
  });
});

describe("the docs page", () => {
  it("is where a browser goes from the bare address; a program is told that there is nothing", async () => {
    const { ask } = await startTestServer();
    const shown = await ask("/", { headers: { Accept: "text/html,*/*;q=0.8" }, redirect: "manual" });
    expect([shown.status, shown.headers.get("Location")]).toEqual([302, "/docs"]);
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
    expect(page).not.toMatch(/(src|href)="(https?:)?\/\//);
    expect(page).not.toMatch(/ (on\w+|style)="/);
    expect(page.match(/<script/g)).toHaveLength(1);
    for (const name of Object.keys(ROUTES)) expect(page).toContain(`<details id="${name}">`);
    for (const { code } of ERROR_CODES) expect(page).toContain(`<tr id="${code}">`);
  });
});
