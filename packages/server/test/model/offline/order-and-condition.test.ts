import { describe, expect, test } from "vitest";
import { ask } from "./ask.ts";
import { FILE_TOOLS, ODD_TOOLS } from "./tools.ts";

const tools = [...FILE_TOOLS, ...ODD_TOOLS];
const MISSING = { error: 'Error: There is no "a.txt" in the workspace.' };

async function calls(sentence: string, returns: readonly (string | { error: string })[] = []): Promise<unknown[]> {
  return (await ask(sentence, { tools, returns })).calls.map(({ name, args }) => [name, args]);
}

const read = (file_path: string) => ["read_file", { file_path }];
const write = (file_path: string, content: string) => ["write_file", { file_path, content }];
const remove = (file_path: string) => ["delete", { file_path }];
const run = (command: string) => ["execute", { command }];

describe("a file is only written or deleted if what was said first holds", () => {
  test.each<[string, unknown[], unknown[]]>([
    ["If a.txt does not exist, create it with hi", [read("/a.txt")], [read("/a.txt"), write("/a.txt", "hi")]],
    ["If a.txt is missing create it containing hi", [read("/a.txt")], [read("/a.txt"), write("/a.txt", "hi")]],
    ["Unless a.txt exists, create it with hi", [read("/a.txt")], [read("/a.txt"), write("/a.txt", "hi")]],
    ["If a.txt exists, delete it", [read("/a.txt"), remove("/a.txt")], [read("/a.txt")]],
    ["If there is a file a.txt, then please delete b.txt.", [read("/a.txt"), remove("/b.txt")], [read("/a.txt")]],
    ["Delete a.txt if it exists", [remove("/a.txt")], [remove("/a.txt")]],
    ["If you have time, please delete a.txt", [remove("/a.txt")], [remove("/a.txt")]],
    ["If you can, delete a.txt", [remove("/a.txt")], [remove("/a.txt")]],
    ["Please delete a.txt if you can", [remove("/a.txt")], [remove("/a.txt")]],
    [
      "Create b.txt containing what if we win",
      [write("/b.txt", "what if we win")],
      [write("/b.txt", "what if we win")],
    ],
  ])("%s", async (sentence, there, missing) => {
    expect(await calls(sentence, ["hello"])).toEqual(there);
    expect(await calls(sentence, [MISSING])).toEqual(missing);
  });

  test.each([
    "Delete a.txt unless it contains one",
    "Delete a.txt only if it is empty",
    "Delete a.txt only after asking me",
    "If a.txt contains one, delete it",
    "If it rains, delete a.txt",
  ])("what can't be told is not decided: %s", async (sentence) => {
    const asked = await ask(sentence, { tools });
    expect(asked.calls).toEqual([]);
    expect(asked.text).toMatch(/can't tell whether|deleted nothing/);
  });
});

describe("what is to be done before is done before", () => {
  test.each<[string, unknown[]]>([
    ["Before you delete a.txt, read it", [read("/a.txt"), remove("/a.txt")]],
    ["Before deleting a.txt, copy it to b.txt", [run("cp a.txt b.txt"), remove("/a.txt")]],
    ["Create a.txt containing hi and then rename it to b.txt", [write("/a.txt", "hi"), run("mv a.txt b.txt")]],
    ["Before running `ls`, read a.txt", [read("/a.txt"), run("ls")]],
    ["Before that, read a.txt", [read("/a.txt")]],
  ])("%s", async (sentence, expected) => expect(await calls(sentence)).toEqual(expected));
});

test("a rule for what comes before orders nothing", async () => {
  const { calls: made, text } = await ask("Before you delete anything, list the files", { tools });
  expect(made.map(({ name }) => name)).toEqual(["ls"]);
  expect(text).not.toContain("delete");
});

describe("what came of one step goes into the next", () => {
  const output = "Monday\n\n[Command succeeded with exit code 0]";
  test.each<[string, unknown[]]>([
    ["Run `date` and save the output to date.txt", [run("date"), write("/date.txt", "Monday")]],
    ["Run the command: date. Then write its output into date.txt", [run("date"), write("/date.txt", "Monday")]],
    ["Write the output of `date` to date.txt", [run("date"), write("/date.txt", "Monday")]],
    ["Save the result of running ls in list.txt", [run("ls"), write("/list.txt", "Monday")]],
  ])("%s", async (sentence, expected) => expect(await calls(sentence, [output])).toEqual(expected));

  test("what a file holds is written to another, or added to it", async () => {
    const shown = "@@ lines 1-2 of 2 @@\none\ntwo";
    expect(await calls("Read a.txt and write its content to b.txt", [shown])).toEqual([
      read("/a.txt"),
      write("/b.txt", "one\ntwo"),
    ]);
    expect(await calls("Write the contents of a.txt to b.txt", [shown])).toEqual([
      ["read_file", { file_path: "/a.txt", limit: 100_000 }],
      write("/b.txt", "one\ntwo"),
    ]);
    expect(await calls("Append the content of a.txt to b.txt", [shown, "@@ lines 1-1 of 1 @@\nzero"])).toEqual([
      ["read_file", { file_path: "/a.txt", limit: 100_000 }],
      ["read_file", { file_path: "/b.txt", limit: 100_000 }],
      ["edit_file", { file_path: "/b.txt", old_string: "zero", new_string: "zero\none\ntwo" }],
    ]);
  });

  test("nothing is written of what is not there", async () => {
    const asked = await ask("Save the output to a.txt", { tools });
    expect(asked.calls).toEqual([]);
    expect(asked.text).toContain("can't think up");
    expect(await calls("Read a.txt and write its content to b.txt", [MISSING])).toEqual([read("/a.txt")]);
  });
});

describe("what is said around a name or a content is no part of it", () => {
  test.each<[string, unknown[]]>([
    ["Create files x.txt (containing 1) and y.txt (containing 2)", [write("/x.txt", "1"), write("/y.txt", "2")]],
    ["Create f.py containing print(1)", [write("/f.py", "print(1)")]],
    ["Download https://example.com", [["browser", { url: "https://example.com" }]]],
    [
      "Delegate to researcher and ask it to list the files",
      [["task", { subagent_type: "researcher", description: "list the files" }]],
    ],
  ])("%s", async (sentence, expected) => expect(await calls(sentence)).toEqual(expected));

  test("a bullet", async () => {
    expect((await calls('Add "- item" as a new bullet to a.txt', ["@@ lines 1-1 of 1 @@\nzero"]))[1]).toEqual([
      "edit_file",
      { file_path: "/a.txt", old_string: "zero", new_string: "zero\n- item" },
    ]);
  });

  test("a wish for the answer ends where another order begins", async () => {
    const { calls: made, text } = await ask("Please start your answer with OK and list the files", { tools });
    expect(made).toHaveLength(1);
    expect(text).toMatch(/^OK ls/);
  });
});

describe("what stands under a condition in the middle of a sentence is done only then", () => {
  test.each([
    "read a.txt, and if it contains TODO, delete it",
    "read a.txt and if it is empty delete it",
    "Read a.txt, but unless it says keep, delete it",
  ])("%s", async (sentence) => {
    const { calls: made, text } = await ask(sentence, { tools, returns: ["alpha"] });
    expect(made.map(({ name }) => name)).toEqual(["read_file"]);
    expect(text).toContain("I can't tell whether");
  });

  /** Twice as long for each condition more, ten of them took 18 s; now they take some milliseconds. */
  test("and many conditions in one message hold up nobody", async () => {
    const began = performance.now();
    await ask("read a.txt and if it contains x, delete it and ".repeat(10), { tools });
    expect(performance.now() - began).toBeLessThan(3_000);
  });
});
