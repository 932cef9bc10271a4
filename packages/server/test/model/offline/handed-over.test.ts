import { describe, expect, test } from "vitest";
import { ask } from "./ask.ts";
import { FILE_TOOLS } from "./tools.ts";

async function calls(sentence: string): Promise<unknown[]> {
  return (await ask(sentence, { tools: FILE_TOOLS })).calls.map(({ name, args }) => [name, args]);
}

describe("work is handed to whoever is named, however it is said", () => {
  const task = (subagent_type: string, description: string) => ["task", { subagent_type, description }];
  test.each<[string, unknown[]]>([
    ["I want researcher to read notes.txt", [task("researcher", "read notes.txt")]],
    ["Could the researcher read notes.txt?", [task("researcher", "read notes.txt")]],
    ["Get researcher on it: list the files", [task("researcher", "list the files")]],
    ["Task for researcher: read notes.txt", [task("researcher", "read notes.txt")]],
    ["Hey @researcher, could you read notes.txt?", [task("researcher", "read notes.txt")]],
    ["delegate this to the subagent named \"researcher\": 'read a.txt'", [task("researcher", "read a.txt")]],
    ["Have somebody read notes.txt", [task("general-purpose", "read notes.txt")]],
    [
      "Ask both the researcher and general-purpose to list the files",
      [task("researcher", "list the files"), task("general-purpose", "list the files")],
    ],
    [
      "Delegate reading a.txt to researcher and creating b.txt to general-purpose",
      [task("researcher", "reading a.txt"), task("general-purpose", "creating b.txt")],
    ],
  ])("%s", async (sentence, expected) => expect(await calls(sentence)).toEqual(expected));

  test("and what several are to do is told to each of them once, as a whole", async () => {
    const both = "ask both the researcher and general-purpose to";
    const whole = `list the files and ${both} read a.txt`;
    expect(await calls(`${both} ${whole}`)).toEqual([task("researcher", whole), task("general-purpose", whole)]);
  });

  test.each<[string, unknown[]]>([
    ["find the license", [["grep", { pattern: "license" }]]],
    ["Search for TODO everywhere", [["grep", { pattern: "TODO" }]]],
    ["reading notes.txt", [["read_file", { file_path: "/notes.txt" }]]],
    ["Would you mind listing the files, please?", [["ls", { path: "/" }]]],
    ["hey, would you mind reading a.txt?", [["read_file", { file_path: "/a.txt" }]]],
    ["Deleting a.txt was a mistake", []],
  ])("and done by whoever it comes to: %s", async (sentence, expected) =>
    expect(await calls(sentence)).toEqual(expected),
  );
});

describe("a todo list has the items that were said", () => {
  const items = async (sentence: string) => {
    const { calls: made, text } = await ask(sentence, { tools: FILE_TOOLS });
    const first = made[0]?.args as { todos: { content: string }[] } | undefined;
    return { items: first?.todos.map(({ content }) => content), names: made.map(({ name }) => name), text };
  };
  const worked = (...names: string[]) => [...names.flatMap((name) => ["write_todos", name]), "write_todos"];

  test.each<[string, string[], string[]]>([
    [
      'Set up a task list with the items "read a.txt" and "list the files" and complete them all',
      ["read a.txt", "list the files"],
      worked("read_file", "ls"),
    ],
    [
      "Create a plan to list the files and read a.txt, then execute it.",
      ["list the files", "read a.txt"],
      worked("ls", "read_file"),
    ],
    [
      "Make a todo list:\n- [ ] read a.txt\n- [ ] list the files\nWork through it.",
      ["read a.txt", "list the files"],
      worked("read_file", "ls"),
    ],
    ["make a todo list with wash, dry and fold", ["wash", "dry", "fold"], ["write_todos"]],
    ["Make a to do list with 2 steps", ["Step 1", "Step 2"], ["write_todos"]],
  ])("%s", async (sentence, expected, names) =>
    expect(await items(sentence)).toMatchObject({ items: expected, names }),
  );

  test.each(["Make a todo list with zero steps", "Make a todo list with 100 steps"])("or none: %s", async (sentence) =>
    expect(await items(sentence)).toMatchObject({ names: [], text: "I write todo lists of 1 to 20 steps." }),
  );
});
