import type { ToolCallRecord } from "@cognition/thread";
import { AIMessage, HumanMessage, ToolMessage } from "@langchain/core/messages";
import { expect, it } from "vitest";
import { packResult } from "../../src/runtime/journal-result.ts";
import { closingResults } from "../../src/runtime/settle-thread.ts";

const said = (name: string) => [
  new HumanMessage("Go"),
  new AIMessage({ content: "", tool_calls: [{ id: "call_1", name, args: {}, type: "tool_call" }] }),
];

function record(more: Partial<ToolCallRecord>): ToolCallRecord {
  return {
    ...{ checkpoint_ns: "tools:1", tool_call_id: "call_1", run_id: "run", name: "charge", args: {} },
    ...{ status: "ok", attempt: 1, idempotency_key: "key", result: null, created_at: "", finished_at: "" },
    ...more,
  };
}

const charged = packResult(new ToolMessage({ tool_call_id: "call_1", name: "charge", content: "charged" }), null);

it.each<[string, string, ToolCallRecord[], string]>([
  ["nothing is recorded of", "charge", [], "It was not started"],
  ["came to its end", "charge", [record({ result: charged })], "charged"],
  ["was stopped", "charge", [record({ status: "aborted" })], "It was stopped before it finished"],
  ["was left in the middle", "charge", [record({ status: "unknown" })], "outcome_unknown"],
  ["delegated", "task", [], "What was done for it until then stays done"],
  [
    "delegated to an agent that gave a call the same id",
    "task",
    [record({ checkpoint_ns: "tools:1|tools:2", result: charged })],
    "What was done for it until then stays done",
  ],
])("a call that %s is closed with what became of it", (_what, name, calls, content) => {
  const [closing, ...more] = closingResults(said(name), calls);
  expect(closing).toMatchObject({ tool_call_id: "call_1", content: expect.stringContaining(content) });
  expect(more).toEqual([]);
});

it("a call that another message stands behind is left to the next model call, which closes it where it stands", () => {
  expect(closingResults([...said("charge"), new HumanMessage("And now?")], [])).toEqual([]);
});

it("a call that has its result is left alone", () => {
  const answered = [...said("charge"), new ToolMessage({ tool_call_id: "call_1", content: "charged" })];
  expect(closingResults(answered, [record({ result: charged })])).toEqual([]);
});
