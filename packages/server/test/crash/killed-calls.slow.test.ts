import { spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import type { StoredEvent } from "@cognition/contract";
import { openStorage } from "@cognition/thread";
import { expect, it, onTestFinished } from "vitest";
import { createTempDir } from "../../../../testing/temp-dir.ts";
import { compose } from "../../src/compose.ts";
import { loadConfig } from "../../src/config.ts";
import { openScriptedServer } from "../model/scripted-server.ts";
import { type Call, callsTogether, says } from "../runtime/scripted-provider.ts";
import { answer, dataOf, eventsOf, type Started, send } from "../runtime/started-runtime.ts";
import { stillValid, wrongToolEvents } from "../runtime/tool-events.ts";
import { until } from "../sandbox/wait-for.ts";

const WITHIN_MS = 60_000;

/** The ones that begin with "hang" never end, and say so in a file of the session's. */
const TOOLS = `import { appendFileSync } from "node:fs";
import { defineTool } from "@cognition/server";
const tool = (name, on_crash, run) =>
  defineTool({ name, description: name, schema: { type: "object", properties: {} }, effect: "read", on_crash, run });
const hang = (_args, { workspace }) => {
  appendFileSync(workspace + "/begun", "x");
  return new Promise(() => undefined);
};
export const charge = tool("charge", "never", () => "charged");
export const hangs = tool("hang", "never", hang);
export const asks = tool("hang_ask", "ask", hang);
`;

const configOf = (url: string) => `models:
  providers:
    - {id: scripted, provider: openai, model: gpt-5.4, base_url: "${url}/v1", api_key_env: TEST_KEY}
  key_hosts: {TEST_KEY: ["127.0.0.1"]}
`;

/** A node is killed while so many tools hang and so many have ended; the one that comes after it works on nothing until it is started. */
async function killDuring(
  [hanging, over]: [hanging: number, over: number],
  ...answers: (readonly Call[])[]
): Promise<Killed> {
  const dir = createTempDir();
  const server = await openScriptedServer();
  server.script(...answers.map((called) => callsTogether(...called)), says("Done"));
  const at = (file: string) => join(dir.path, file);
  mkdirSync(at(".cognition/tools"), { recursive: true });
  mkdirSync(at("work"));
  writeFileSync(at(".cognition/tools/tools.mjs"), TOOLS);
  writeFileSync(at(".cognition/config.yaml"), configOf(server.url));
  const env = { PATH: process.env["PATH"] ?? "", TEST_KEY: "sk-test" };
  const uri = `sqlite://${at("state.db")}`;
  const storage = await openStorage(uri);
  const errors: unknown[] = [];
  const runtime = await compose({
    ...{ storage, workspace_root: dir.path, env, config: loadConfig({ env, cwd: dir.path }).config },
    ...{ engine: { lease_ms: 60_000, poll_ms: 20 }, onError: (error) => errors.push(error) },
  });
  onTestFinished(async () => {
    await runtime.close(0);
    await storage.close();
    await server[Symbol.asyncDispose]();
    dir.remove();
  });
  const session = await storage.createSession({ workspace_path: "work" });
  const started = { storage, runtime, session, root: dir.path, folder: at("work"), errors };
  const run_id = await send(started, "Go");
  const program = join(import.meta.dirname, "../runtime/children/run-node.ts");
  const flags = ["--conditions=cognition-source", "--disable-warning=ExperimentalWarning"];
  const args = [...flags, program, uri, dir.path, JSON.stringify(env)];
  const child = spawn(process.execPath, args, { stdio: ["ignore", "ignore", "inherit"] });
  const ended = once(child, "exit");
  onTestFinished(() => void child.kill("SIGKILL"));
  const begun = () => (existsSync(at("work/begun")) ? readFileSync(at("work/begun"), "utf8").length : 0);
  const ends = async () => (await storage.readEvents({ session_id: session.id, types: ["tool_result"] })).events.length;
  await until(async () => begun() === hanging && (await ends()) === over, WITHIN_MS);
  child.kill("SIGKILL");
  await ended;
  return { ...started, run_id };
}

interface Killed extends Started {
  run_id: string;
}

/** By agent and id, as whoever heeds `discard_after` has them in the end. */
function outcomes(events: readonly StoredEvent[]): Record<string, unknown> {
  const told = dataOf(stillValid(events), "tool_result");
  return Object.fromEntries(
    told.map(({ agent = "root", tool_call_id, outcome }) => [`${agent} ${tool_call_id}`, outcome]),
  );
}

const task = (id: string) => [id, "task", { subagent_type: "general-purpose", description: "Do it" }] as const;
const TIMEOUT = { timeout: 120_000 };

it(
  "calls that a node was killed in have one result when another one goes on, those of another agent too",
  TIMEOUT,
  async () => {
    const killed = await killDuring(
      [2, 2],
      [["c1", "charge"], ["c2", "hang"], task("t1")],
      [
        ["c3", "hang"],
        ["c4", "charge"],
      ],
    );
    killed.runtime.engine.start();
    const events = await eventsOf(killed, killed.run_id);
    expect(dataOf(events, "done")).toMatchObject([{ status: "succeeded" }]);
    expect(wrongToolEvents(events)).toEqual([]);
    expect(outcomes(events)).toEqual({
      "root c1": "ok",
      "root c2": "unknown",
      "root t1": "ok",
      "general-purpose c3": "unknown",
      "general-purpose c4": "ok",
    });
  },
);

it(
  "they have one when the run was aborted before anybody went on, and so have those that had ended",
  TIMEOUT,
  async () => {
    const killed = await killDuring(
      [2, 2],
      [["c1", "charge"], ["c2", "hang"], task("t1")],
      [
        ["c3", "hang"],
        ["c4", "charge"],
      ],
    );
    await killed.runtime.engine.abort(killed.session.id);
    killed.runtime.engine.start();
    const events = await eventsOf(killed, killed.run_id);
    expect(dataOf(events, "done")).toMatchObject([{ status: "aborted" }]);
    expect(wrongToolEvents(events)).toEqual([]);
    expect(outcomes(events)).toEqual({
      "root c1": "ok",
      "root c2": "unknown",
      "root t1": "aborted",
      "general-purpose c3": "unknown",
      "general-purpose c4": "ok",
    });
  },
);

it(
  "one that a human is asked about has the human's answer, and is unknown if the run is aborted instead",
  TIMEOUT,
  async () => {
    const scenes = await Promise.all([0, 1].map(() => killDuring([1, 0], [["c1", "hang_ask"]])));
    for (const [n, killed] of scenes.entries()) {
      killed.runtime.engine.start();
      const asked = await eventsOf(killed, killed.run_id);
      expect(asked.at(-1)).toMatchObject({ event: "interrupt" });
      const aborting = async () => {
        await killed.runtime.engine.abort(killed.session.id);
        return eventsOf(killed, killed.run_id, asked.at(-1)?.id);
      };
      const rest = n === 0 ? answer(killed, asked, { type: "respond", message: "It landed." }) : aborting();
      const events = [...asked, ...(await rest)];
      expect(wrongToolEvents(events)).toEqual([]);
      expect(outcomes(events)).toEqual({ "root c1": "unknown" });
      expect(await killed.storage.listToolCalls(killed.run_id)).toMatchObject([{ status: "unknown" }]);
    }
  },
);
