import type { DecisionType } from "@cognition/contract";
import { expect, test } from "vitest";
import { shown } from "../page/words.ts";
import { askDecisions } from "../src/chat/ask-decisions.ts";
import type { Prompt } from "../src/chat/prompt.ts";

/** What is decided where these lines are typed, and how many of them were asked for. */
async function decide(allowed_decisions: DecisionType[], ...lines: string[]) {
  const rest = [...lines];
  const prompt = { askNow: async () => rest.shift() } as Partial<Prompt> as Prompt;
  const asked = { id: "i", tool_name: "execute", args: { command: "ls" }, allowed_decisions };
  const decisions = await askDecisions([asked], prompt, () => {});
  return { decisions: decisions?.map(({ id: _, ...decision }) => decision), asked: lines.length - rest.length };
}

test.each<[DecisionType[], string, object]>([
  [["approve", "edit", "reject", "respond"], "y", { type: "approve" }],
  [["approve", "edit", "reject", "respond"], "", { type: "reject" }],
  [["approve", "reject"], "rather not", { type: "reject", message: "rather not" }],
  [["respond"], "42", { type: "respond", value: "42" }],
  [["reject", "edit"], "rather not", { type: "reject", message: "rather not" }],
  [["reject", "edit"], '{"command":"pwd"}', { type: "edit", args: { command: "pwd" } }],
  [["reject"], '{"command":"pwd"}', { type: "reject", message: '{"command":"pwd"}' }],
])("of %j, %j is an answer", async (allowed, line, decision) => {
  expect(await decide(allowed, line)).toEqual({ decisions: [decision], asked: 1 });
});

test("what the server would refuse is asked again: nobody could answer it afterwards", async () => {
  expect(await decide(["approve"], "n", "y")).toEqual({ decisions: [{ type: "approve" }], asked: 2 });
  expect(await decide(["edit"], "n", "[1]", "{}")).toEqual({ decisions: [{ type: "edit", args: {} }], asked: 3 });
});

test("where the input ends nothing is decided", async () => {
  expect(await decide(["approve"], "n")).toEqual({ decisions: undefined, asked: 1 });
});

test("a person sees all that he is to allow, as it will run", async () => {
  const said: string[] = [];
  const prompt = { askNow: async () => "n" } as Partial<Prompt> as Prompt;
  const command = `echo ${"a".repeat(2000)}; rm -rf ./buil\u200bd ~ \u202e# dnammoc ssenmrah`;
  const asked = {
    id: "i",
    tool_name: "exec\x1b[2Jute",
    args: { command },
    allowed_decisions: ["approve" as const, "reject" as const],
  };
  await askDecisions([asked], prompt, (text) => void said.push(text));
  const shown = command.replace("\u202e", "\\u202e").replace("\u200b", "\\u200b");
  expect(said).toEqual([`  The agent wants to: exec\\u001b[2Jute {"command":"${shown}"}`]);
});

test("a graph may ask without a word", async () => {
  const said: string[] = [];
  const prompt = { askNow: async () => "go on" } as Partial<Prompt> as Prompt;
  const decisions = await askDecisions(
    [{ id: "i", allowed_decisions: ["respond"] }],
    prompt,
    (text) => void said.push(text),
  );
  expect(said).toEqual(["  The agent asks: null"]);
  expect(decisions).toEqual([{ id: "i", type: "respond", value: "go on" }]);
  expect(shown(undefined)).toBe("null");
});
