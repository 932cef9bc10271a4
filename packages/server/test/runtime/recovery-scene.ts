import { spawn } from "node:child_process";
import { once } from "node:events";
import { existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import type { StoredEvent } from "@cognition/contract";
import { openStorage, type Storage } from "@cognition/thread";
import { createTempDir } from "../../../../testing/temp-dir.ts";
import { compose, type Runtime } from "../../src/compose.ts";
import { loadConfig } from "../../src/config.ts";
import { until } from "../sandbox/wait-for.ts";
import { dataOf, eventsOf, type Started, send } from "./started-runtime.ts";

const ASK = "Run the command: sh job.sh";
const WITHIN_MS = 60_000;

/** A server that is killed or replaced in the middle of a command, and the one that comes after it. */
export interface RecoveryScene {
  readonly storage: Storage;
  readonly runtime: Runtime;
  readonly started: Started;
  write(file: string, text: string): void;
  /** Has another process work on a message that runs `job.sh`, and ends that once the job has begun, and the fact is true. */
  endNodeDuring(signal: "SIGKILL" | "SIGTERM", fact?: () => boolean): Promise<string>;
  /** The second server goes on with the run; resolves when it has it. */
  takeOver(run_id: string): Promise<{ ended: Promise<StoredEvent[]> }>;
  lines(file: string): string[];
  close(): Promise<void>;
}

export async function openRecoveryScene(env: Record<string, string>): Promise<RecoveryScene> {
  const dir = createTempDir();
  const uri = `sqlite://${join(dir.path, "state.db")}`;
  const storage = await openStorage(uri);
  const errors: unknown[] = [];
  // It accepts messages, and works on none until it is started.
  const runtime = await compose({
    storage,
    workspace_root: dir.path,
    env,
    config: loadConfig({ env, cwd: dir.path }).config,
    engine: { lease_ms: 60_000, poll_ms: 20 },
    onError: (error) => errors.push(error),
  });
  const session = await storage.createSession({ workspace_path: "work" });
  const started = { storage, runtime, session, root: dir.path, folder: join(dir.path, "work"), errors };
  mkdirSync(started.folder);
  const at = (file: string) => join(started.folder, file);
  return {
    ...{ storage, runtime, started },
    write: (file, text) => writeFileSync(at(file), text),
    lines: (file) => readFileSync(at(file), "utf8").split("\n").slice(0, -1),
    endNodeDuring: async (signal, fact = () => true) => {
      const run_id = await send(started, ASK);
      const program = join(import.meta.dirname, "children/run-node.ts");
      const flags = ["--conditions=cognition-source", "--disable-warning=ExperimentalWarning"];
      const args = [...flags, program, uri, dir.path, JSON.stringify(env)];
      const child = spawn(process.execPath, args, { stdio: ["ignore", "ignore", "inherit"] });
      const ended = once(child, "exit");
      await until(() => existsSync(at("count")) && fact(), WITHIN_MS);
      child.kill(signal);
      await ended;
      return run_id;
    },
    takeOver: async (run_id) => {
      const { attempt } = await storage.getRun(run_id);
      runtime.engine.start();
      const ended = eventsOf(started, run_id);
      await until(async () => (await storage.getRun(run_id)).attempt > attempt, WITHIN_MS);
      return { ended };
    },
    close: async () => {
      await runtime.sandboxes.remove(session.id);
      await runtime.close(0);
      await storage.close();
      dir.remove();
    },
  };
}

/** What a client that heeds `discard_after` has seen in the end. */
export function outputSeen(events: readonly StoredEvent[]): string {
  const void_after = Math.max(0, ...dataOf(events, "status").map(({ discard_after = 0 }) => Number(discard_after)));
  const resumed = events.findLast(({ event, data }) => event === "status" && "discard_after" in data)?.id ?? 0;
  const valid = events.filter(({ id }) => id <= void_after || id > resumed);
  return dataOf(valid, "tool_output").reduce((text, { content }) => text + content, "");
}
