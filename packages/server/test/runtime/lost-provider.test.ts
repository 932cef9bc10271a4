import type { Run } from "@cognition/contract";
import { openStorage } from "@cognition/thread";
import { expect, it, onTestFinished } from "vitest";
import { compose } from "../../src/compose.ts";
import { calls, says, scriptedProvider } from "./scripted-provider.ts";
import { answer, dataOf, say, startRuntime } from "./started-runtime.ts";

const AGENT =
  "---\nname: careful\ndescription: asks first\nmode: all\ninterrupt_on:\n  write_file: true\n---\nBe careful.\n";

it("what a run used before it waited is counted, also where nobody can go on with it", async () => {
  const write = calls("c1", "write_file", { file_path: "/a.txt", content: "a" });
  const { server, options } = await scriptedProvider(write, says("Done."));
  onTestFinished(() => server[Symbol.asyncDispose]());
  const storage = await openStorage("memory");
  const session = { agent_name: "careful", config: { provider_id: "openai" } };
  const started = await startRuntime({
    ...options,
    storage,
    session,
    files: { ".cognition/agents/careful.md": AGENT },
  });
  const asked = await say(started, "Write");
  expect(dataOf(asked, "interrupt")).toHaveLength(1);
  await started.runtime.close(0);

  const { root: workspace_root } = started;
  const env = { PATH: process.env["PATH"] };
  const runtime = await compose({ storage, workspace_root, env, engine: { poll_ms: 20 }, onError: () => {} });
  onTestFinished(() => runtime.close(0));
  runtime.engine.start();
  const events = await answer({ ...started, runtime }, asked, { type: "approve" });
  expect(dataOf(events, "done")).toMatchObject([{ status: "failed" }]);
  const used = { input_tokens: 10, output_tokens: 5 };
  const { usage }: Run = await storage.getRun(asked[0]?.run_id ?? "");
  expect(usage).toMatchObject(used);
  expect((await storage.usage.getUsage({ group_by: "day" })).total).toMatchObject({ ...used, runs: 1 });
});
