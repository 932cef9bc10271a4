import { openStorage } from "@cognition/thread";
import { confineArtifacts } from "../../src/tool/confine-artifacts.ts";
import type { ToolContext, ToolEvent } from "../../src/tool/tool.ts";

export interface TestContext {
  context: ToolContext;
  events: ToolEvent[];
  close(): Promise<void>;
}

/** A context on a real storage in memory, with a session and a run of its own. */
export async function openToolContext(given: Partial<ToolContext> = {}): Promise<TestContext> {
  const storage = await openStorage({ backend: "memory" });
  await storage.initialize();
  const scope = { user: "ann" };
  const { id: session_id, thread_id } = await storage.createSession({ scopes: scope });
  const { run } = await storage.createRun({ session_id });
  const events: ToolEvent[] = [];
  const context: ToolContext = {
    session_id,
    thread_id,
    run_id: run.id,
    agent_name: "default",
    scope,
    tool_call_id: "call-1",
    idempotency_key: "key-1",
    signal: new AbortController().signal,
    workspace: "/nowhere",
    store: await storage.getStore(scope),
    artifacts: confineArtifacts(storage.artifacts, { scope, session_id, run_id: run.id }),
    emit: (event) => events.push(event),
    ...given,
  };
  return { context, events, close: () => storage.close() };
}
