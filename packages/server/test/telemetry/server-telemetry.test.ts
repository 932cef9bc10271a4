import type { Run } from "@cognition/contract";
import { describe, expect, it } from "vitest";
import { defaultConfig } from "../../src/config.ts";
import { createTelemetry } from "../../src/telemetry/telemetry.ts";
import { startTestServer, type TestServer } from "../http/test-server.ts";
import { startOtlpReceiver } from "./otlp-receiver.ts";

/** Sends a message, waits for the run's end, and gives the run. */
async function converse({ ask, createSession }: TestServer, content: string, headers: Record<string, string> = {}) {
  const { id } = await createSession();
  const response = await ask(`/sessions/${id}/messages`, { method: "POST", json: { content }, headers });
  await response.text();
  const location = response.headers.get("Content-Location") ?? "";
  return (await (await ask(location)).json()) as Run;
}

async function readMetrics({ ask }: TestServer): Promise<Record<string, number>> {
  const response = await ask("/metrics");
  expect(response.headers.get("Content-Type")).toContain("text/plain");
  const lines = (await response.text()).split("\n").filter((line) => line !== "" && !line.startsWith("#"));
  return Object.fromEntries(
    lines.map((line) => [line.slice(0, line.lastIndexOf(" ")), Number(line.split(" ").at(-1))]),
  );
}

describe("metrics", () => {
  it("count requests, runs, events, tools and tokens, by names and never by ids", async () => {
    const server = await startTestServer();
    const run = await converse(server, "list the files");
    await server.ask("/sessions/no-such-session");
    await server.ask("/no-such-path");
    // A run is over a moment before this node has let go of it.
    await expect
      .poll(() => readMetrics(server))
      .toMatchObject({
        'cognition_http_requests_total{route="createSession",method="POST",status="201"}': 1,
        'cognition_http_requests_total{route="getSession",method="GET",status="404"}': 1,
        'cognition_http_requests_total{route="none",method="GET",status="404"}': 1,
        'cognition_http_request_duration_seconds_count{route="sendMessage"}': 1,
        'cognition_runs_total{status="succeeded"}': 1,
        'cognition_run_duration_seconds_count{status="succeeded"}': 1,
        'cognition_events_total{event="done"}': 1,
        cognition_active_runs: 0,
        cognition_queued_runs: 0,
        cognition_open_streams: 0,
        cognition_pending_deliveries: 0,
      });
    const metrics = await readMetrics(server);
    const names = Object.keys(metrics);
    expect(metrics['cognition_model_tokens_total{provider="offline",model="offline",direction="output"}']).toBe(
      run.usage?.output_tokens,
    );
    expect(names.some((name) => name.startsWith('cognition_tool_calls_total{tool="ls",outcome="ok"}'))).toBe(true);
    expect(names.join("\n")).not.toContain(run.session_id);
  });
});

describe("traces", () => {
  it("a run, its model calls and its tool calls are spans of the trace that the request named", async () => {
    const receiver = await startOtlpReceiver();
    const config = defaultConfig();
    const traces = { ...config.traces, endpoint: receiver.url, headers: { "x-collector-key": "k" } };
    const telemetry = await createTelemetry({ ...config, traces });
    const server = await startTestServer({ telemetry });
    const trace_id = "0af7651916cd43dd8448eb211c80319c";
    const run = await converse(server, "list the files", { traceparent: `00-${trace_id}-b7ad6b7169203331-01` });
    expect(run).toMatchObject({ status: "succeeded", trace_id });
    await server.server.close(0);
    await telemetry.close();

    const spans = receiver.spans.filter((span) => span.traceId === trace_id);
    const root = spans.find(({ name }) => name === "invoke_agent default");
    expect(root).toMatchObject({
      parentSpanId: "b7ad6b7169203331",
      service: "cognition",
      failed: false,
      attributes: {
        "gen_ai.operation.name": "invoke_agent",
        "gen_ai.agent.name": "default",
        "gen_ai.conversation.id": run.session_id,
        "cognition.run.id": run.id,
        "cognition.run.status": "succeeded",
      },
    });
    const below = spans.filter(({ parentSpanId }) => parentSpanId === root?.spanId);
    expect(below.map(({ name }) => name).sort()).toEqual(["chat offline", "chat offline", "execute_tool ls"]);
    expect(below.find(({ name }) => name === "execute_tool ls")?.attributes).toMatchObject({
      "gen_ai.operation.name": "execute_tool",
      "gen_ai.tool.name": "ls",
      "cognition.tool.outcome": "ok",
    });
    const chats = below.filter(({ name }) => name === "chat offline");
    const tokens = chats.map(({ attributes }) => attributes["gen_ai.usage.output_tokens"] as number);
    expect(tokens.reduce((a, b) => a + b, 0)).toBe(run.usage?.output_tokens);
    expect(receiver.headers[0]).toMatchObject({ "x-collector-key": "k" });
    expect(JSON.stringify(receiver.spans), "no text of users").not.toContain("list the files");
  });

  it("a run without a traceparent begins a trace of its own, whose id it carries; a broken header is no error", async () => {
    const receiver = await startOtlpReceiver();
    const config = defaultConfig();
    const telemetry = await createTelemetry({ ...config, traces: { ...config.traces, endpoint: receiver.url } });
    const server = await startTestServer({ telemetry });
    const own = await converse(server, "hello");
    const broken = await converse(server, "hello", { traceparent: "00-nonsense" });
    expect(own.trace_id).toMatch(/^[0-9a-f]{32}$/);
    await server.server.close(0);
    await telemetry.close();
    for (const { id, trace_id } of [own, broken]) {
      const root = receiver.spans.find(({ attributes }) => attributes["cognition.run.id"] === id);
      expect(root).toMatchObject({ traceId: trace_id, parentSpanId: undefined });
    }
    expect(own.trace_id).not.toBe(broken.trace_id);
  });

  it("where none are configured a run still carries the trace of its request, and no other", async () => {
    const server = await startTestServer();
    const trace_id = "0af7651916cd43dd8448eb211c80319c";
    expect(await converse(server, "hello", { traceparent: `00-${trace_id}-b7ad6b7169203331-00` })).toMatchObject({
      trace_id,
    });
    expect(await converse(server, "hello")).toMatchObject({ trace_id: null });
  });
});
