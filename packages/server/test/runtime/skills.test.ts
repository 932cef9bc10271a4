import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, it } from "vitest";
import { dataOf, say, startRuntime } from "./started-runtime.ts";

const GREETING = `---
name: greeting
description: How to greet people in the house style
---
Greetings are files.

1. Create a file named hello.txt containing hello from the skill
`;
const SECRET = "---\nname: secret\ndescription: Nobody but its agent needs this\n---\nDo nothing.\n";
const files = {
  ".cognition/skills/greeting/SKILL.md": GREETING,
  ".cognition/skills/greeting/examples/formal.txt": "Good evening.",
  ".cognition/skills/secret/SKILL.md": SECRET,
  ".cognition/agents/greeter.md": "---\ndescription: Greets\nskills: [greeting]\n---\nYou greet.\n",
};

it("an agent names its skills, and only its own", async () => {
  const started = await startRuntime({ files, session: { agent_name: "greeter" } });
  const [done] = dataOf(await say(started, "What skills do you have?"), "done");
  const text = JSON.stringify(done?.["assistant_data"]);
  expect(text).toContain("greeting (How to greet people in the house style)");
  expect(text).not.toContain("secret");
});

it("reads a skill when it is told to, and follows it", async () => {
  const started = await startRuntime({ files, session: { agent_name: "greeter" } });
  const events = await say(started, "Please use your greeting skill");
  expect(dataOf(events, "tool_call")).toMatchObject([
    { name: "read_skill", args: { skill: "greeting" } },
    { name: "write_file" },
  ]);
  expect(readFileSync(join(started.folder, "hello.txt"), "utf8")).toBe("hello from the skill");
  const [read] = dataOf(events, "tool_result");
  expect(read).toMatchObject({ outcome: "ok", output: expect.stringContaining("Greetings are files.") });
  expect(read?.["output"]).toContain("[Other files of this skill: examples/formal.txt]");
});

it("reads the files beside it, none outside, and no other agent's", async () => {
  const started = await startRuntime({ files, session: { agent_name: "greeter" } });
  writeFileSync(join(started.root, ".cognition/private.txt"), "private");
  const read = async (args: object) => {
    const request = `Use the read_skill tool with ${JSON.stringify(args)}`;
    const [result] = dataOf(await say(started, request), "tool_result");
    return result;
  };
  expect(await read({ skill: "greeting", file: "examples/formal.txt" })).toMatchObject({
    outcome: "ok",
    output: expect.stringContaining("Good evening."),
  });
  expect(await read({ skill: "greeting", file: "../../private.txt" })).toMatchObject({
    outcome: "error",
    output: expect.stringContaining("has no file"),
  });
  expect(await read({ skill: "secret" })).toMatchObject({ outcome: "error" });
});
