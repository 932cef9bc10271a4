import { createMiddleware } from "langchain";
import { expect, it } from "vitest";
import type { MiddlewareSource } from "../../src/runtime/named-middleware.ts";
import type { RunContext } from "../../src/tool/tool.ts";
import { dataOf, say, startRuntime } from "./started-runtime.ts";

const agent = (fields: string) => `---\n${fields}\n---\nYou do what you are told.\n`;

it("an agent's middleware sees its calls, with the context of the run; another agent's calls it does not see", async () => {
  const seen: [string, RunContext][] = [];
  const audit: MiddlewareSource = ({ context }) =>
    createMiddleware({
      name: "journal", // as one of ours is called: it must not take its place
      wrapToolCall: (request, handler) => {
        seen.push([request.toolCall.name, context()]);
        return handler(request);
      },
    });
  const files = {
    ".cognition/agents/lead.md": agent("description: Leads\nsubagents: [typist]"),
    ".cognition/agents/typist.md": agent("description: Types\nmode: subagent\nmiddleware: [audit]"),
  };
  const session = { agent_name: "lead", scopes: { org: "a" } };
  const started = await startRuntime({ files, session, middleware: { audit } });
  const events = await say(started, "Delegate to typist: Create a file named a.txt containing exactly the word x");
  expect(dataOf(events, "done")).toMatchObject([{ status: "succeeded" }]);
  expect(seen).toMatchObject([
    [
      "write_file",
      {
        agent_name: "typist",
        session_id: started.session.id,
        thread_id: started.session.thread_id,
        run_id: events[0]?.run_id,
        scope: { org: "a" },
        workspace: started.folder,
      },
    ],
  ]);
  expect(await started.storage.listToolCalls(events[0]?.run_id ?? "")).toMatchObject([{ status: "ok" }]);
});

it("one that is unknown is refused with its name and line; one that can't be loaded stops the start", async () => {
  const files = { ".cognition/agents/lead.md": agent("description: Leads\nmiddleware:\n  - missing") };
  const { runtime } = await startRuntime({ files, middleware: { audit: () => createMiddleware({ name: "audit" }) } });
  expect(await runtime.agents.problems()).toMatchObject([
    { file: ".cognition/agents/lead.md", line: 4, message: expect.stringContaining('unknown middleware "missing"') },
  ]);
  await expect(startRuntime({ middleware: { audit: "./gone.ts#audit" } })).rejects.toMatchObject({
    code: "invalid_config",
    message: expect.stringContaining("middleware audit: ./gone.ts#audit can't be loaded"),
  });
});
