import { existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { createClient } from "@cognition/client";
import { afterEach, beforeEach, expect, test } from "vitest";
import type { Result } from "../examples/batch-worker/results-file.ts";
import { type RunningCli, type Served, startServe } from "../packages/cli/test/cli-process.ts";
import { freePort } from "../testing/free-port.ts";
import { startExample } from "../testing/start-example.ts";
import { createTempDir, type TempDir } from "../testing/temp-dir.ts";

const JOBS = 12;

let dir: TempDir;
const running: RunningCli[] = [];
const at = (name: string) => join(dir.path, name);
beforeEach(() => {
  dir = createTempDir();
  // What a job does outside: a line in a file, which nobody could take back. Declared as not safe to repeat.
  mkdirSync(at(".cognition/tools"), { recursive: true });
  writeFileSync(
    at(".cognition/tools/book.ts"),
    `import { appendFileSync } from "node:fs";
export default {
  name: "book",
  description: "Books a number",
  schema: { type: "object", properties: { number: { type: "string" } }, required: ["number"] },
  on_crash: "never",
  effect: "write",
  run: (args: { number: string }) => {
    appendFileSync(${JSON.stringify(at("booked.txt"))}, args.number + "\\n");
    return "booked";
  },
};
`,
  );
  const jobs = Array.from({ length: JOBS }, (_, n) => `Use the book tool with number="n${n}"`);
  writeFileSync(at("jobs.txt"), `${jobs.join("\n")}\n`);
});
afterEach(async () => {
  for (const { child } of running) child.kill("SIGKILL");
  await Promise.all(running.splice(0).map(({ exited }) => exited));
  dir.remove();
});

const lines = (name: string) => (existsSync(at(name)) ? readFileSync(at(name), "utf8").split("\n").slice(0, -1) : []);
const until = (name: string, count: number) =>
  expect.poll(() => lines(name).length, { timeout: 120_000, interval: 5 }).toBeGreaterThanOrEqual(count);

async function kill({ child, exited }: RunningCli): Promise<void> {
  child.kill("SIGKILL");
  await exited;
}

test("a batch is done once, though its worker and its server are killed in the middle", async () => {
  const serve = async (port = "0"): Promise<Served> => {
    const served = await startServe(["--quiet", "--port", port], { cwd: dir.path });
    running.push(served);
    return served;
  };
  const first = await serve();
  const work = (): RunningCli => {
    const files = ["--jobs", at("jobs.txt"), "--results", at("results.jsonl")];
    const worker = startExample("batch-worker/batch-worker.ts", ["--server", first.url, ...files]);
    running.push(worker);
    return worker;
  };

  const killed = work();
  await until("booked.txt", 2);
  await kill(killed);
  const second = work();
  await until("booked.txt", 6);
  await kill(first);
  const { url } = await serve(new URL(first.url).port);
  expect(await second.exited, second.seen()).toBe(0);
  expect(second.seen()).toContain("all done");

  const results = lines("results.jsonl").map((line) => JSON.parse(line) as Result);
  expect(results.map(({ job }) => job).sort((a, b) => a - b)).toEqual(Array.from({ length: JOBS }, (_, n) => n));
  expect(results.filter(({ status }) => status !== "succeeded")).toEqual([]);

  const client = createClient({ baseUrl: url });
  expect((await client.listSessions()).total).toBe(JOBS);
  const booked = lines("booked.txt");
  for (const { job, session_id, run_id } of results) {
    expect((await client.listRuns(session_id)).runs.map(({ id }) => id)).toEqual([run_id]);
    expect((await client.getMessages(session_id, { role: "user" })).total).toBe(1);
    // None at all is right where the server was killed just before: the model was told that nobody knows.
    const times = booked.filter((number) => number === `n${job}`).length;
    const told = JSON.stringify((await client.getMessages(session_id, { role: "tool" })).messages);
    expect(times, told).toBe(/unknown/.test(told) ? Math.min(times, 1) : 1);
  }

  // Started once more, it finds that there is nothing left to do.
  const again = work();
  expect(await again.exited).toBe(0);
  expect(again.seen()).toContain(`0 jobs to do, ${JOBS} done before`);
  expect(lines("booked.txt")).toEqual(booked);
});

test("a worker whose server is not there yet says that it waits for it", async () => {
  const port = String(await freePort());
  const args = ["--server", `http://127.0.0.1:${port}`, "--jobs", at("jobs.txt"), "--results", at("results.jsonl")];
  const worker = startExample("batch-worker/batch-worker.ts", args);
  running.push(worker);
  await worker.until(/127\.0\.0\.1:\d+ can't be reached: .*; waiting for it/);
  running.push(await startServe(["--quiet", "--port", port], { cwd: dir.path }));
  expect(await worker.exited, worker.seen()).toBe(0);
  expect(lines("results.jsonl")).toHaveLength(JOBS);
});

test("jobs that can't be read, and other jobs under the name of an earlier batch, are told with what to do", async () => {
  const missing = startExample("batch-worker/batch-worker.ts", ["--jobs", at("none.txt")]);
  running.push(missing);
  expect(await missing.exited).toBe(2);
  expect(missing.seen()).toMatch(/none\.txt'; --jobs names a file with a job on each line\n$/);

  const served = await startServe(["--quiet"], { cwd: dir.path });
  running.push(served);
  const work = (job: string) => {
    writeFileSync(at("jobs.txt"), job);
    const files = ["--jobs", at("jobs.txt"), "--results", at(`${job}.jsonl`)];
    const worker = startExample("batch-worker/batch-worker.ts", ["--server", served.url, ...files]);
    running.push(worker);
    return worker;
  };
  expect(await work("Say one").exited).toBe(0);
  const other = work("Say two");
  expect(await other.exited).toBe(1);
  expect(other.seen()).toMatch(/\nThe batch "batch" had other jobs; give this one a --batch of its own\.\n$/);
});
