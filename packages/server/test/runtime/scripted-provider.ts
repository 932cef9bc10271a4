import type { ComposeOptions } from "../../src/compose.ts";
import { defaultConfig } from "../../src/config.ts";
import { openai } from "../model/openai-server.ts";
import { PROTOCOLS, type Protocol, provider } from "../model/providers.ts";
import { type Answer, openScriptedServer, type ScriptedServer } from "../model/scripted-server.ts";

const OPENAI = PROTOCOLS[0] as Protocol;

/** A model that says what it was told to say, over the wire; the last answer serves all calls that follow. */
export function scriptedProvider(...answers: readonly Answer[]): Promise<Scripted> {
  return scriptedOver(OPENAI, ...answers);
}

interface Scripted {
  server: ScriptedServer;
  options: Pick<ComposeOptions, "config" | "env">;
}

/** The same over a protocol of one's choice. */
export async function scriptedOver(protocol: Protocol, ...answers: readonly Answer[]): Promise<Scripted> {
  const server = await openScriptedServer();
  server.script(...answers);
  const config = defaultConfig();
  const { scope: _scope, source: _source, ...entry } = provider(protocol, server.url);
  const models = { ...config.models, providers: [entry], key_hosts: { TEST_KEY: ["127.0.0.1"] } };
  return {
    server,
    options: { config: { ...config, models }, env: { PATH: process.env["PATH"], TEST_KEY: "sk-test" } },
  };
}

export const says = OPENAI.says;

export type Call = readonly [id: string, name: string, args?: object];

/** Several in one answer. */
export function callsTogether(...called: readonly Call[]): Answer {
  const pieces = called.flatMap(([id, name, args = {}], at) => [
    openai.toolStart(at, id, name),
    openai.toolArgs(at, JSON.stringify(args)),
  ]);
  return openai.stream(openai.start, ...pieces, openai.finish("tool_calls"), openai.done);
}

export function calls(id: string, name: string, args: object): Answer {
  return OPENAI.calls(id, name, JSON.stringify(args));
}
