/**
 * Gives every line of a file to an agent, each in a session of its own, and writes the answers to another file. Kill it, or
 * the server, at any moment and start it again with the same arguments: each job is still done by one run, because the keys
 * that it is sent under are made from the batch's name and the job's number. The server knows keys for a day.
 */
import { readFileSync } from "node:fs";
import { parseArgs } from "node:util";
import { createClient, isAppError } from "@cognition/client";
import { openResults, type Result } from "./results-file.ts";

const { values } = parseArgs({
  options: {
    server: { type: "string", default: "http://127.0.0.1:8000" },
    batch: { type: "string", default: "batch" },
    jobs: { type: "string", default: "jobs.txt" },
    results: { type: "string", default: "results.jsonl" },
    "at-once": { type: "string", default: "4" },
  },
});

/** A server that restarts is away for seconds; a batch can wait for it. */
const PATIENCE = 20;
const client = createClient({ baseUrl: values.server, retries: PATIENCE, maxReconnects: PATIENCE });
const jobs = readJobs(values.jobs);
const results = openResults(values.results);
const waiting = jobs.flatMap((text, job) => (text.trim() === "" || results.done.has(job) ? [] : [{ job, text }]));

function readJobs(file: string): string[] {
  try {
    return readFileSync(file, "utf8").split("\n");
  } catch (error) {
    return giveUp(`${error instanceof Error ? error.message : error}; --jobs names a file with a job on each line`, 2);
  }
}

function giveUp(why: string, code: number): never {
  console.error(why);
  process.exit(code);
}

/** What the server said; a fault of this program needs its stack. */
function tell(error: unknown): never {
  if (!isAppError(error)) throw error;
  const isOther = error.code === "idempotency_mismatch";
  return giveUp(
    isOther ? `The batch "${values.batch}" had other jobs; give this one a --batch of its own.` : error.message,
    1,
  );
}

async function work(job: number, text: string): Promise<Result> {
  const key = `${values.batch}-${job}`;
  const title = `${values.batch} ${job}`;
  const session = await client.createSession({ title }, { idempotencyKey: `${key}-session` });
  const run = await client.submitMessage(session.id, text, { idempotencyKey: `${key}-message` });
  const rest = await client.followRun(session.id, run.id).rest();
  const end = rest?.event === "done" ? rest.data : undefined;
  const output = end?.assistant_data?.content ?? "";
  return {
    job,
    session_id: session.id,
    run_id: run.id,
    status: end?.status ?? "waiting_for_approval",
    output: typeof output === "string" ? output : JSON.stringify(output),
  };
}

async function workOff(): Promise<void> {
  for (let next = waiting.shift(); next; next = waiting.shift()) {
    const result = await work(next.job, next.text);
    results.add(result);
    console.log(`job ${result.job}: ${result.status}`);
  }
}

console.log(`${waiting.length} jobs to do, ${results.done.size} done before`);
// Minutes of silence would look like a worker that hangs.
await createClient({ baseUrl: values.server, retries: 0 })
  .getReadiness()
  .catch(({ message }: Error) => {
    console.log(`${message}; waiting for it`);
  });
await Promise.all(Array.from({ length: Number(values["at-once"]) }, workOff)).catch(tell);
console.log("all done");
