import { createHash } from "node:crypto";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { ERROR_CODES, ROUTES, type Route } from "@cognition/contract";
import { describe, expect, it } from "vitest";
import { z } from "zod";
import { openApiDocument } from "../../src/http/openapi/document.ts";
import { VERSION } from "../../src/version.ts";
import { startTestServer } from "./test-server.ts";

const FILE = join(import.meta.dirname, "../../../../docs/openapi.json");

const Content = z.record(z.string().regex(/^[\w.+-]+\/[\w.+-]+$/), z.strictObject({ schema: z.looseObject({}) }));
const Parameter = z.strictObject({
  name: z.string(),
  in: z.enum(["path", "query", "header"]),
  required: z.boolean(),
  schema: z.looseObject({}),
  description: z.string().optional(),
  style: z.string().optional(),
  explode: z.boolean().optional(),
});
const Operation = z.strictObject({
  operationId: z.string(),
  summary: z.string().min(1),
  tags: z.array(z.string().min(1)).length(1),
  security: z.array(z.looseObject({})).optional(),
  parameters: z.array(Parameter).optional(),
  requestBody: z.strictObject({ required: z.boolean(), content: Content }).optional(),
  responses: z.record(
    z.string().regex(/^(\d{3}|default)$/),
    z.strictObject({ description: z.string().min(1), content: Content.optional() }),
  ),
});
/** What OpenAPI 3.1 asks of a document, as far as ours goes. */
const OpenApi = z.strictObject({
  openapi: z.literal("3.1.0"),
  info: z.looseObject({ title: z.string(), version: z.string() }),
  servers: z.array(z.strictObject({ url: z.string() })),
  security: z.array(z.record(z.string(), z.array(z.string()))),
  paths: z.record(
    z.string().startsWith("/"),
    z.partialRecord(z.enum(["get", "post", "put", "patch", "delete"]), Operation),
  ),
  components: z.strictObject({
    schemas: z.record(z.string().regex(/^[\w.-]+$/), z.looseObject({})),
    securitySchemes: z.record(z.string(), z.looseObject({ type: z.string() })),
  }),
});

describe("the OpenAPI document", () => {
  const document = openApiDocument(VERSION);

  it("is committed fresh: npm run openapi", () => {
    expect(readFileSync(FILE, "utf8")).toBe(`${JSON.stringify(document, null, 2)}\n`);
  });

  it("is OpenAPI, names nothing that is not there, and has every route of the contract", () => {
    const { paths, components } = OpenApi.parse(document);
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
