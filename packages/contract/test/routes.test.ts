import { describe, expect, it } from "vitest";
import { z } from "zod";
import { ROUTES, type Route } from "../src/index.ts";

const EXPECTED = `
  POST /sessions
  GET /sessions
  GET /sessions/{id}
  PATCH /sessions/{id}
  DELETE /sessions/{id}
  POST /sessions/{id}/abort
  POST /sessions/{id}/resume
  GET /approvals
  GET /sessions/{id}/files
  GET /sessions/{id}/files/{path}
  PUT /sessions/{id}/files/{path}
  DELETE /sessions/{id}/files/{path}
  POST /sessions/{id}/messages
  GET /sessions/{id}/messages
  GET /sessions/{id}/messages/{message_id}
  POST /sessions/{id}/messages/rebuild
  GET /sessions/{id}/runs
  GET /sessions/{id}/runs/{run_id}
  GET /sessions/{id}/events
  GET /sessions/{id}/runs/{run_id}/events
  GET /deliveries
  GET /deliveries/{id}
  POST /deliveries/{id}/redeliver
  GET /sessions/{id}/checkpoints
  GET /sessions/{id}/checkpoints/{cid}
  GET /sessions/{id}/checkpoints/{cid}/diff
  POST /sessions/{id}/fork
  POST /sessions/{id}/rewind
  GET /artifacts
  POST /artifacts
  GET /artifacts/{id}
  PUT /artifacts/{id}
  DELETE /artifacts/{id}
  GET /artifacts/{id}/content
  GET /artifacts/{id}/versions
  GET /artifacts/{id}/versions/{n}
  GET /artifacts/{id}/diff
  GET /agents
  POST /agents
  GET /agents/{name}
  PUT /agents/{name}
  PATCH /agents/{name}
  DELETE /agents/{name}
  GET /skills
  GET /tools
  GET /models
  GET /models/providers
  POST /models/providers
  GET /models/providers/{id}
  PATCH /models/providers/{id}
  DELETE /models/providers/{id}
  POST /models/providers/{id}/test
  GET /store/items
  PUT /store/items
  DELETE /store/items
  POST /store/search
  POST /store/namespaces
  GET /profiles/{user_id}
  PUT /profiles/{user_id}
  PATCH /profiles/{user_id}
  POST /tasks
  GET /tasks/{id}
  POST /tasks/{id}/continue
  POST /tasks/{id}/messages
  PATCH /tasks/{id}/workspace
  POST /tasks/{id}/complete
  PUT /chats/{user_id}/{chat_id}
  GET /chats/{user_id}/{chat_id}
  DELETE /chats/{user_id}/{chat_id}
  POST /chats/{user_id}/{chat_id}/clear
  GET /chats/{user_id}/{chat_id}/messages
  GET /usage
  GET /budgets
  PUT /budgets
  GET /health
  GET /ready
  GET /metrics
  GET /openapi.json
  GET /docs
`
  .trim()
  .split("\n")
  .map((line) => line.trim());

const routes: [string, Route][] = Object.entries(ROUTES);

function bodyOf(route: Route): z.ZodType | undefined {
  return typeof route.body === "string" ? undefined : route.body;
}

describe("routes", () => {
  it("are those of the API, each once", () => {
    expect(routes.map(([, route]) => `${route.method} ${route.path}`).sort()).toEqual([...EXPECTED].sort());
  });

  it.each(routes)("%s has a schema for each parameter of its path, and for no other", (_, route) => {
    const inPath = [...route.path.matchAll(/\{(\w+)\}/g)].map(([, name]) => name);
    const described = route.params instanceof z.ZodObject ? Object.keys(route.params.shape) : [];
    expect(described).toEqual(inPath);
  });

  it.each(routes)("%s has a summary of one line and a status that fits", (_, route) => {
    expect(route.summary).toMatch(/^[A-Z0-9][^\n]{5,100}$/);
    expect(route.media.length).toBeGreaterThan(0);
    expect(route.status === 204).toBe(route.media.includes("none"));
    expect(route.media.includes("json")).toBe(route.response !== undefined);
  });

  it.each(routes.filter(([, route]) => route.method === "POST"))("%s takes an idempotency key", (_, route) => {
    const body = bodyOf(route);
    if (!(body instanceof z.ZodObject)) throw new Error("a POST has an object for its body");
    expect(Object.keys(body.shape)).toContain("idempotency_key");
  });

  it.each(routes.filter(([, route]) => bodyOf(route)))("%s refuses unknown fields", (_, route) => {
    const issues = bodyOf(route)?.safeParse({ no_such_field: 1 }).error?.issues ?? [];
    expect(issues.some((issue) => issue.code === "unrecognized_keys")).toBe(true);
  });

  it.each(routes.filter(([, route]) => route.query))("%s refuses unknown parameters", (_, route) => {
    const issues = route.query?.safeParse({ no_such_parameter: "1" }).error?.issues ?? [];
    expect(issues.some((issue) => issue.code === "unrecognized_keys")).toBe(true);
  });

  it.each(routes)("%s can be written as JSON Schema", (_, route) => {
    for (const schema of [route.params, route.query, bodyOf(route)]) {
      if (schema) expect(z.toJSONSchema(schema, { io: "input" })).toMatchObject({ type: "object" });
    }
    if (route.response) expect(z.toJSONSchema(route.response, { io: "output" })).toMatchObject({ type: "object" });
  });

  it("describe parameters and limits in JSON Schema", () => {
    const query = z.toJSONSchema(ROUTES.listMessages.query, { io: "input" });
    expect(query.properties?.["limit"]).toMatchObject({ type: "integer", minimum: 1, maximum: 500, default: 50 });
    const body = z.toJSONSchema(ROUTES.createSession.body, { io: "input" });
    expect(JSON.stringify(body.properties?.["title"])).toContain('"maxLength":500');
    expect(body.required).toBeUndefined();
    expect(body.additionalProperties).toBe(false);
  });
});
