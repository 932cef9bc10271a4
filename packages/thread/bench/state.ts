import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { parseArgs } from "node:util";
import { createTempDir } from "../../../testing/temp-dir.ts";
import { openStorage } from "../src/open-storage.ts";
import { uuidv7 } from "../src/sql/context.ts";
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

/** All sides in turn, message by message: whatever the disk does in the meantime, it does to each. */
async function measure(messages: number): Promise<Sample[]> {
  const storage = await openStorage(join(dir.path, "state.db"));
  const tasks = createTasks(storage);
  const state = await tasks.startTask({ query: "measure", user_id: "bench" });
  const [plain, bare] = [await openPlain(), openBare()];
  const samples: Sample[] = [];
  for (let n = 0; n < messages; n++) {
    const content = `${n} `.padEnd(500, "lorem ipsum ");
    const ours = async () => {
      const [start, used] = [performance.now(), process.cpuUsage()];
      await tasks.addMessage(state, n % 2 ? "assistant" : "user", content);
      const { user, system } = process.cpuUsage(used);
      return { message_ms: performance.now() - start, cpu_ms: (user + system) / 1_000 };
    };
    const theirs = () => ({ plain_ms: timed(() => plain.insert(content)), bare_ms: timed(() => bare.insert(content)) });
    if (n % 2) samples.push({ ...(await ours()), ...theirs() });
    else {
      const others = theirs();
      samples.push({ ...others, ...(await ours()) });
    }
  }
  plain.close();
  bare.close();
  await storage.close();
  return samples;
}

function timed(work: () => void): number {
  const start = performance.now();
  work();
  return performance.now() - start;
}

function openFile(name: string): DatabaseSync {
  const db = new DatabaseSync(join(dir.path, name));
  db.exec("pragma journal_mode = wal; pragma synchronous = full; pragma foreign_keys = on");
  return db;
}

/** The message's row in a table like ours, by one prepared statement that is its own transaction; nothing checked, nothing counted. */
async function openPlain() {
  const storage = await openStorage(join(dir.path, "plain.db"));
  const { id: session_id } = await storage.createSession({});
  await storage.close();
  const db = openFile("plain.db");
  const insert =
    db.prepare(`insert into messages (session_id, id, scope, position, role, content, tool_calls, metadata, created_at)
    values (?, ?, '{}', (select coalesce(max(position), 0) + 1 from messages where session_id = ?), 'user', ?, '[]', '{}', ?)`);
  return {
    insert: (body: string) => {
      insert.run(session_id, uuidv7(), session_id, JSON.stringify(body), new Date().toISOString());
    },
    close: () => db.close(),
  };
}

/** The least that a durable text can cost: a table of its own with nothing to find it by. */
function openBare() {
  const db = openFile("bare.db");
  db.exec("create table t (id integer primary key, body text not null)");
  const insert = db.prepare("insert into t (body) values (?)");
  return { insert: (body: string) => void insert.run(body), close: () => db.close() };
}
