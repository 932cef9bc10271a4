import { afterEach, beforeEach, expect, it } from "vitest";
import { patientFetch } from "../../src/outgoing/patient-fetch.ts";
import { watchedFetch } from "../../src/tool/mcp-answer-end.ts";
import { modelOf, PROTOCOLS, type Protocol, provider, registry } from "../model/providers.ts";
import { openScriptedServer, type ScriptedServer } from "../model/scripted-server.ts";

interface Dispatcher {
  dispatch(options: object, handler: unknown): boolean;
}

const GLOBAL = Symbol.for("undici.globalDispatcher.1");
const inUse = globalThis as unknown as Record<symbol, Dispatcher>;
const nodes = inUse[GLOBAL] as Dispatcher;
const OPENAI = PROTOCOLS[0] as Protocol;

let server: ScriptedServer;
const sent: object[] = [];

/** As a user does who wants his requests sent by a proxy. */
beforeEach(async () => {
  sent.length = 0;
  inUse[GLOBAL] = {
    dispatch(options, handler) {
      sent.push(options);
      return nodes.dispatch(options, handler);
    },
  };
  server = await openScriptedServer();
  server.script(OPENAI.says("late"));
});
afterEach(async () => {
  inUse[GLOBAL] = nodes;
  await server[Symbol.asyncDispose]();
});

const read = async (send: typeof fetch) => (await send(server.url, { method: "POST" })).text();

// Node gives up after five minutes of silence unless it is told so: here it is looked at what it is told.
it.each([
  ["a fetch", () => read(patientFetch)],
  ["an MCP server's call", () => read(watchedFetch as typeof fetch)],
  ["a model's call", async () => (await (await modelOf(registry([provider(OPENAI, server.url)]))).invoke("hi")).text],
])(
  "%s waits for a silent answer as long as its caller does, and is sent by whatever stands in the place of Node's own",
  async (_, ask) => {
    expect(await ask()).toContain("late");
    expect(sent).toMatchObject([{ headersTimeout: 0, bodyTimeout: 0 }]);
  },
);
