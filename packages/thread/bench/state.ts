import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { parseArgs } from "node:util";
import { createTempDir } from "../../../testing/temp-dir.ts";
import { openStorage } from "../src/open-storage.ts";
import { createTasks } from "../src/task/tasks.ts";
import { printState, writeState } from "./state-report.ts";
import { type Sample, summarizeState } from "./state-summary.ts";

const { values } = parseArgs({
  options: {
    messages: { type: "string", default: "10000" },
    out: { type: "string" },
  },
});
const count = Number(values.messages);
if (!(Number.isInteger(count) && count >= 1_000)) throw new Error("--messages must be a whole number from 1000");

const dir = createTempDir("cognition-bench-");
try {
  const summary = summarizeState(await measure(count));
  process.stdout.write(`${printState(summary)}\n`);
  const out = values.out ?? (count === 10_000 ? join(import.meta.dirname, "../../../docs/bench") : undefined);
  if (out) writeState(out, summary);
} finally {
  dir.remove();
}

/** Both sides in turn, message by message: whatever the disk does in the meantime, it does to both. */
async function measure(messages: number): Promise<Sample[]> {
  const storage = await openStorage(join(dir.path, "state.db"));
  const tasks = createTasks(storage);
  const state = await tasks.startTask({ query: "measure", user_id: "bench" });
  const plain = openPlain();
  const samples: Sample[] = [];
  for (let n = 0; n < messages; n++) {
    const content = `${n} `.padEnd(500, "lorem ipsum ");
    const ours = async () => {
      const [start, used] = [performance.now(), process.cpuUsage()];
      await tasks.addMessage(state, n % 2 ? "assistant" : "user", content);
      const { user, system } = process.cpuUsage(used);
      return { message_ms: performance.now() - start, cpu_ms: (user + system) / 1_000 };
    };
    const theirs = () => {
      const start = performance.now();
      plain.insert(content);
      return performance.now() - start;
    };
    if (n % 2) samples.push({ ...(await ours()), plain_ms: theirs() });
    else {
      const plain_ms = theirs();
      samples.push({ plain_ms, ...(await ours()) });
    }
  }
  plain.close();
  await storage.close();
  return samples;
}

/** The least that a durable message can cost: one statement that is its own transaction, prepared once, on a table of its own. */
function openPlain() {
  const db = new DatabaseSync(join(dir.path, "plain.db"));
  db.exec("pragma journal_mode = wal; pragma synchronous = full");
  db.exec("create table t (id integer primary key, body text not null)");
  const insert = db.prepare("insert into t (body) values (?)");
  return { insert: (body: string) => void insert.run(body), close: () => db.close() };
}
