import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { createInterface } from "node:readline";
import { fileURLToPath } from "node:url";
import type { Run, Session } from "@cognition/contract";
import { describe, expect, it, onTestFinished } from "vitest";
import { createTempDir } from "../../../../testing/temp-dir.ts";
import { readEvents, type SeenEvent } from "../http/read-events.ts";

const PROGRAM = fileURLToPath(new URL("../children/http-node.ts", import.meta.url));

interface Node {
  readonly url: string;
  readonly port: number;
  readonly child: ChildProcess;
}

async function startNode(root: string, port = 0): Promise<Node> {
  const input = JSON.stringify({ uri: join(root, "state.db"), root, port });
  const flags = ["--conditions=cognition-source", "--disable-warning=ExperimentalWarning"];
  const env = { PATH: process.env["PATH"], NODE_COMPILE_CACHE: join(root, "cache") };
  const child = spawn(process.execPath, [...flags, PROGRAM, input], { env, stdio: ["ignore", "pipe", "inherit"] });
  onTestFinished(async () => {
    const ended = child.exitCode === null && child.signalCode === null && once(child, "exit");
    child.kill("SIGKILL");
    await ended;
  });
  const [line] = (await once(createInterface({ input: child.stdout }), "line")) as [string];
  return { child, ...JSON.parse(line) };
}

async function stop({ child }: Node, signal: "SIGKILL" | "SIGTERM"): Promise<number | null> {
  const ended = once(child, "close");
  child.kill(signal);
  const [code] = (await ended) as [number | null];
  return code;
}

/** Reads until the stream ends or breaks. */
async function readToTheEnd(response: Response): Promise<SeenEvent[]> {
  const seen: SeenEvent[] = [];
  await readEvents(response, (events) => {
    seen.splice(0, seen.length, ...events);
    return false;
  }).catch(() => undefined);
  return seen;
}

async function begin(node: Node, content: string) {
  const post = (path: string, body: unknown, headers = {}) =>
    fetch(node.url + path, { method: "POST", body: JSON.stringify(body), headers });
  const session = (await (await post("/sessions", {})).json()) as Session;
  const accepted = await post(`/sessions/${session.id}/messages`, { content }, { Prefer: "respond-async" });
  const run = (await accepted.json()) as Run;
  return { session, run, path: `/sessions/${session.id}/runs/${run.id}/events?after=0` };
}

/** A command that is at work until the test lets it end: what happens meanwhile happens in the middle of a step. */
function heldCommand(dir: string): { sentence: string; release: () => void } {
  const [program, go] = [join(dir, "wait-for.mjs"), join(dir, "go")];
  writeFileSync(
    program,
    `import { existsSync } from "node:fs";
setTimeout(() => process.exit(1), 170_000);
setInterval(() => existsSync(${JSON.stringify(go)}) && process.exit(0), 20);`,
  );
  return { sentence: `Run the command: ${process.execPath} ${program}`, release: () => writeFileSync(go, "") };
}

describe("a server that is gone", () => {
  for (const signal of ["SIGKILL", "SIGTERM"] as const) {
    it(`by ${signal}, in the middle of a run: its clients go on at the next one without a gap`, async () => {
      const dir = createTempDir();
      onTestFinished(() => dir.remove());
      const first = await startNode(dir.path);
      const { sentence, release } = heldCommand(dir.path);
      const { run, path } = await begin(first, sentence);
      await readEvents(await fetch(first.url + path), (events) => events.at(-1)?.event === "tool_call");
      const reading = readToTheEnd(await fetch(first.url + path));
      const stopped = stop(first, signal);
      if (signal === "SIGTERM") await until(async () => (await fetch(`${first.url}/ready`)).status === 503);
      release();
      const code = await stopped;
      if (signal === "SIGTERM") expect(code).toBe(0);
      const before = await reading;
      expect(before.some(({ event }) => event === "done")).toBe(false);
      const second = await startNode(dir.path, first.port);
      const last = before.at(-1)?.id ?? 0;
      const headers: Record<string, string> = last > 0 ? { "Last-Event-ID": String(last) } : {};
      const after = await readEvents(await fetch(second.url + path, { headers }));
      const joined = [...before, ...after.filter(({ id }) => id !== undefined)];
      expect(joined.map(({ id }) => id)).toEqual(joined.map((_, index) => index + 1));
      expect(joined.at(-1)).toMatchObject({ event: "done", data: { run_id: run.id } });
      expect((await fetch(second.url + path, { headers: { "Last-Event-ID": String(joined.length) } })).status).toBe(
        204,
      );
    }, 180_000);
  }

  it("says that it is not ready while it hands over, and lets no new message in", async () => {
    const dir = createTempDir();
    onTestFinished(() => dir.remove());
    const node = await startNode(dir.path);
    const { sentence, release } = heldCommand(dir.path);
    const { session, path } = await begin(node, sentence);
    await readEvents(await fetch(node.url + path), (events) => events.at(-1)?.event === "tool_call");
    const ended = stop(node, "SIGTERM");
    const ready = await until(async () => {
      const response = await fetch(`${node.url}/ready`);
      return response.status === 503 ? response : undefined;
    });
    expect(await ready.json()).toEqual({ ready: false, reasons: ["This node is shutting down"] });
    const refused = await fetch(`${node.url}/sessions/${session.id}/messages`, {
      method: "POST",
      body: '{"content":"x"}',
    });
    expect([refused.status, ((await refused.json()) as { code: string }).code]).toEqual([503, "draining"]);
    release();
    expect(await ended).toBe(0);
  }, 180_000);
});

async function until<T>(ask: () => Promise<T | undefined | false>): Promise<T> {
  const deadline = performance.now() + 60_000;
  for (;;) {
    const answer = await ask();
    if (answer) return answer;
    if (performance.now() > deadline) throw new Error(`not in time: ${ask}`);
  }
}
