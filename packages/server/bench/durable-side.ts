import { join } from "node:path";
import { openStorage } from "@cognition/thread";
import { z } from "zod";
import { createTempDir } from "../../../testing/temp-dir.ts";
import { compose } from "../src/compose.ts";
import { defineTool } from "../src/tool/define-tool.ts";
import type { ToolDefinition } from "../src/tool/tool.ts";
import { LOOK_UP, type Side, WORKLOADS } from "./workload.ts";

/** The product as it is: a message is accepted, run by the engine, and read from the log as a client would. */
export async function openDurableSide(onError: (error: unknown) => void): Promise<Side> {
  const dir = createTempDir("cognition-bench-");
  let commits = 0;
  let hasWritten = false;
  const storage = await openStorage({
    uri: join(dir.path, "state.db"),
    failpoint: (point, sql = "") => {
      // A claim that finds nothing commits as well, and does not wait for the disk.
      if (point === "statement") hasWritten ||= /^\s*(?:insert|update|delete)/i.test(sql);
      if (point !== "committed") return;
      if (hasWritten) commits++;
      hasWritten = false;
    },
  });
  const lookUp = defineTool({
    name: LOOK_UP.name,
    description: LOOK_UP.description,
    schema: z.object({ topic: z.string() }),
    on_crash: "never",
    effect: "read",
    run: () => LOOK_UP.found,
  });
  const runtime = await compose({
    storage,
    workspace_root: dir.path,
    env: { PATH: process.env["PATH"] },
    tools: [lookUp as unknown as ToolDefinition],
    engine: { owner: "bench", max_runs: 200 },
    onError,
  });
  runtime.engine.start();

  const sessions: string[] = [];

  return {
    commits: () => commits,
    prepare: async (runs) => {
      const made = Array.from({ length: runs }, () => storage.createSession({ workspace_path: "shared" }));
      sessions.push(...(await Promise.all(made)).map(({ id }) => id));
    },
    run: async (workload) => {
      const session_id = sessions.shift() ?? ""; // the oldest first, as people would use them
      const content = WORKLOADS[workload];
      const message_id = crypto.randomUUID();
      const start = performance.now();
      let first_token_ms = 0;
      const done = new AbortController();
      const events = storage.followEvents({ session_id, after: 0, signal: done.signal });
      await runtime.engine.submit({
        session_id,
        message: { id: message_id, role: "user", content },
        input: { kind: "message", message_id, content },
      });
      for await (const { event, data } of events) {
        if (event === "token") first_token_ms ||= performance.now() - start;
        if (event !== "done") continue;
        if (!("status" in data) || data.status !== "succeeded")
          throw new Error(`a run ended as ${JSON.stringify(data)}`);
        break;
      }
      done.abort();
      return first_token_ms;
    },
    close: async () => {
      await runtime.close();
      await storage.close();
      dir.remove();
    },
  };
}
