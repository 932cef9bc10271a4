import { describe, expect, test } from "vitest";
import { ask } from "./ask.ts";
import { FILE_TOOLS } from "./tools.ts";

const names = async (request: string, system: string, earlier: readonly string[] = []) =>
  (await ask(request, { system, earlier, tools: FILE_TOOLS })).calls.map(({ name }) => name);

describe("what the system prompt rules out is not done", () => {
  test.each([
    ["Never use the shell.", "Run the command: ls"],
    ["You are Bob. Never delete files. Be kind.", "delete a.txt"],
    ["Never delete files.", "run rm a.txt"],
    ["- Do not create, edit or delete any files.", "Create a.txt containing hello"],
    ["Do not use the grep tool.", "Use the grep tool to find TODO"],
    ["You may not run commands under any circumstances.", "rename a.txt to b.txt"],
    ["Don't delegate to subagents.", "Delegate to researcher: find the license"],
  ])("%s: %s", async (system, request) => {
    const { calls, text } = await ask(request, { system, tools: FILE_TOOLS });
    expect(calls).toEqual([]);
    expect(text).toContain(`since I was told: ${system.replace("You are Bob. ", "").replace(" Be kind.", "")}`);
  });

  test("nor what goes on from it, and the rest is", async () => {
    expect(await names("append x to a.txt. Then list the files.", "You must not modify files.")).toEqual([
      "read_file",
      "ls",
    ]);
  });

  test("also where the user made it a rule", async () => {
    expect(await names("delete a.txt", "", ["never delete any files"])).toEqual([]);
  });

  test.each([
    ["Never use write_todos for simple tasks.", "Make a todo list with two steps", "write_todos"],
    ["Never delete files unless the user asks.", "delete a.txt", "delete"],
    ["You must not modify files.", "read a.txt", "read_file"],
  ])("what a narrower rule leaves open is done: %s", async (system, request, name) =>
    expect(await names(request, system)).toEqual([name]),
  );

  test("and of one file only that once", async () => {
    expect(await names("delete a.txt", "", ["don't delete a.txt"])).toEqual(["delete"]);
  });
});

describe("replies are as the system prompt wants them", () => {
  test.each([
    ["Always answer in one word.", "say hi there", "hi"],
    ["Give one-word answers.", "say hi there", "hi"],
    ["Respond with a single word.", "say hi there", "hi"],
    ["Put three exclamation marks at the end of every reply.", "say hi", "hi!!!"],
    ['Add "-- Bot" to the end of each response.', "say hi", "hi -- Bot"],
    ["Always finish your answers with the word DONE in capital letters.", "say hi", "hi DONE"],
    ["Every reply must begin with [BOT] and must not contain the word file.", "say the file", "[BOT] the …"],
    ["Your name is Grace Hopper.", "What is your name?", "My name is Grace Hopper."],
  ])("%s", async (system, request, answer) => expect((await ask(request, { system })).text).toBe(answer));

  test("it is who it was told to be, and says what it is", async () => {
    const { text } = await ask("Who are you?", { system: "You are Captain Jack, a pirate." });
    expect(text).toMatch(/^I am Captain Jack\. I am Cognition's offline model/);
  });
});
