import { CreateAgent, type StoredEvent } from "@cognition/contract";
import type { Storage } from "@cognition/thread";
import { describe, expect, it } from "vitest";
import { createTempDir } from "../../../../testing/temp-dir.ts";
import { engines } from "../../../thread/test/engines.ts";
import { compose, type Runtime } from "../../src/compose.ts";

const prompt = (word: string) => `Start every reply with ${word}.`;

async function composed(storage: Storage, root: string): Promise<Runtime> {
  return compose({
    storage,
    workspace_root: root,
    env: { PATH: process.env["PATH"] },
    engine: { poll_ms: 20 },
    onError: () => undefined,
  });
}

async function submit({ engine }: Runtime, session_id: string) {
  const message_id = crypto.randomUUID();
  const input = { kind: "message", message_id, content: "Hello" };
  return (await engine.submit({ session_id, message: { id: message_id, role: "user", content: "Hello" }, input })).run;
}

/** The run's end, and what it failed with if it did. */
async function replyOf(storage: Storage, session_id: string, run_id: string): Promise<string> {
  const follow = storage.followEvents({ session_id, after: 0, signal: AbortSignal.timeout(50_000) });
  const errors: unknown[] = [];
  for await (const event of follow) {
    if (event.event === "error") errors.push(event.data);
    if (isEnd(event, run_id)) return JSON.stringify([event.data, ...errors]);
  }
  throw new Error("the run did not end");
}

function isEnd({ event, run_id }: StoredEvent, wanted: string): boolean {
  return event === "done" && run_id === wanted;
}

describe.each(engines.filter(({ name }) => name !== "memory"))("an agent of the API on $name", ({ open }) => {
  it("a run goes by what its agent was when it was accepted, on another node, changed or deleted since", async () => {
    const { storage, second, dispose } = await open();
    const dir = createTempDir();
    const other = (await second?.()) as Storage;
    const [accepting, working] = [await composed(storage, dir.path), await composed(other, dir.path)];
    try {
      const scopes = { user: "ann" };
      const agent = await accepting.agents.create(
        CreateAgent.parse({ name: "greeter", system_prompt: prompt("AHOY") }),
        scopes,
      );
      const session = await storage.createSession({ agent_name: "greeter", scopes });
      const first = await submit(accepting, session.id);
      expect(first.agent_revision).toBe(agent.revision);
      await accepting.agents.update("greeter", { system_prompt: prompt("HOLA") }, scopes);
      const second = await submit(accepting, session.id);
      await accepting.agents.delete("greeter", scopes);
      await expect(submit(accepting, session.id)).rejects.toMatchObject({ code: "unknown_agent" });

      working.engine.start();
      expect(await replyOf(storage, session.id, first.id)).toContain("AHOY");
      expect(await replyOf(storage, session.id, second.id)).toContain("HOLA");
      expect(second.agent_revision).not.toBe(first.agent_revision);
    } finally {
      await Promise.all([accepting.close(0), working.close(0)]);
      await dispose();
      dir.remove();
    }
  });
});
