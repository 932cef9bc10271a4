import { describe, expect, test } from "vitest";
import { ask } from "./ask.ts";
import { FILE_TOOLS, ODD_TOOLS } from "./tools.ts";

const tools = [...FILE_TOOLS, ...ODD_TOOLS];

const read = (file_path: string) => ["read_file", { file_path }];
const remove = (file_path: string) => ["delete", { file_path }];
const run = (command: string) => ["execute", { command }];
const write = (file_path: string, content: string) => ["write_file", { file_path, content }];

async function calls(sentence: string, returns: readonly (string | { error: string })[] = []): Promise<unknown[]> {
  return (await ask(sentence, { tools, returns })).calls.map(({ name, args }) => [name, args]);
}

describe("what is not to be deleted stays", () => {
  test.each([
    "Delete all files except notes.txt",
    "Delete everything but notes.txt",
    "Remove every file apart from notes.txt, please",
    "Delete anything other than notes.txt",
    "Delete a.txt or b.txt",
    "Delete either a.txt or b.txt",
    "Delete every file that contains TODO",
    "Delete a.txt's first word",
    "I told you not to delete a.txt",
    "I never wanted you to delete a.txt",
    "You may not delete a.txt",
    "You can't delete a.txt",
    "There's no need to delete a.txt",
    "Tell me before you delete a.txt",
    "Let me know before you delete a.txt",
    "Imagine you delete a.txt. What happens?",
    "Pretend to delete a.txt",
    "What command deletes a.txt?",
    "Delete a.txt... just kidding, don't",
    "Delete a.txt. Never mind.",
    "Delete a.txt! No, wait, leave it.",
    "Run rm -rf / --no-preserve-root please don't",
    "Overwrite a.txt with x? No, forget it.",
  ])("%s", async (sentence) => expect(await calls(sentence)).toEqual([]));

  test.each<[string, unknown[]]>([
    ["Keep a.txt and delete b.txt", [remove("/b.txt")]],
    ["Leave a.txt alone and delete b.txt", [remove("/b.txt")]],
    ["Take b.txt and delete it", [remove("/b.txt")]],
    ["Delete a.txt, not b.txt", [remove("/a.txt")]],
    ["Delete a.txt but keep b.txt", [remove("/a.txt")]],
    ["Delete all three files: a.txt, b.txt and c.txt", [remove("/a.txt"), remove("/b.txt"), remove("/c.txt")]],
    ["Delete the contents of a.txt", [write("/a.txt", "")]],
    ["Don't run `ls`, run `pwd`", [run("pwd")]],
    ["Don't delete a.txt, just read it", [read("/a.txt")]],
    ["Please do not list the files; instead read a.txt", [read("/a.txt")]],
    ["Create a.txt containing never mind", [write("/a.txt", "never mind")]],
    ["Can't you delete a.txt?", [remove("/a.txt")]],
  ])("what is asked for beside that is done: %s", async (sentence, expected) =>
    expect(await calls(sentence)).toEqual(expected),
  );
});

describe("what is only spoken of is not done", () => {
  test.each([
    "Translate to German: delete a.txt",
    "Translate to German: Delete a.txt. Then run ls.",
    "Rewrite this politely: move a.txt to docs",
    "The previous tool output says: delete a.txt",
    "my todo list says delete a.txt",
    "here is my note: delete a.txt",
    "He said: write hello to a.txt",
    "echo delete a.txt",
    "remind me to delete a.txt",
    "Someone should delete a.txt",
    "Someone should move a.txt to docs",
    "We could rename a.txt to b.txt",
    "maybe delete a.txt later",
    "John wants to delete a.txt",
    "It is dangerous to delete a.txt",
    "Tomorrow I'll delete a.txt",
    "I will write hello to a.txt",
    "They told me to delete a.txt",
    "How do I delegate to researcher: find it?",
  ])("%s", async (sentence) => expect(await calls(sentence)).toEqual([]));

  test.each<[string, unknown[]]>([
    ["ok now please go ahead and delete a.txt", [remove("/a.txt")]],
    ["yes delete a.txt", [remove("/a.txt")]],
    ["actually delete a.txt", [remove("/a.txt")]],
    ["First of all delete a.txt", [remove("/a.txt")]],
    ["My task for you: create x.txt with hi", [write("/x.txt", "hi")]],
    ["Here is your task: create x.txt with hi", [write("/x.txt", "hi")]],
    ["Hey bot, delete a.txt", [remove("/a.txt")]],
    ["I need you to delete a.txt now", [remove("/a.txt")]],
    ["do the following: run pwd, delete a.txt", [run("pwd"), remove("/a.txt")]],
    ["remember to delete a.txt later", [["remember_fact", { fact: "delete a.txt later" }]]],
    ["I just want you to create x.txt with hi", [write("/x.txt", "hi")]],
  ])("what is asked for is: %s", async (sentence, expected) => expect(await calls(sentence)).toEqual(expected));

  test("what is written may read like an order to the same file", async () => {
    const edits = await calls('append "delete notes.txt" to notes.txt', ["hello"]);
    expect(edits[1]).toMatchObject(["edit_file", { new_string: "hello\ndelete notes.txt" }]);
  });
});

describe("a file that is there is not written over where that was ruled out", () => {
  test.each([
    "Create a.txt if it isn't there containing new",
    "Create a.txt containing new, but only if there is none yet",
    "Create a.txt containing new, but don't overwrite it",
    "Write new to a.txt without overwriting it",
    "Create a.txt with new unless there is one already",
  ])("%s", async (sentence) => {
    expect(await calls(sentence, ["old"])).toEqual([read("/a.txt")]);
    expect(await calls(sentence, [{ error: "Error: not found" }])).toEqual([read("/a.txt"), write("/a.txt", "new")]);
  });
});

describe("what is to be done after another thing is done after it", () => {
  test.each<[string, unknown[]]>([
    ["Delete a.txt after reading it", [read("/a.txt"), remove("/a.txt")]],
    ["Delete a.txt after you have read it.", [read("/a.txt"), remove("/a.txt")]],
    ["Read a.txt before deleting it", [read("/a.txt"), remove("/a.txt")]],
    ["Copy a.txt to b.txt before you delete a.txt", [run("cp a.txt b.txt"), remove("/a.txt")]],
    ["Create a.txt containing look before deleting it", [write("/a.txt", "look before deleting it")]],
  ])("%s", async (sentence, expected) => expect(await calls(sentence)).toEqual(expected));
});

describe("a file of which nothing is said but its name is made, and left where it is there", () => {
  const MISSING = { error: "Error: not found" };
  test.each<[string, string[]]>([
    ["Create foo.txt", ["/foo.txt"]],
    ["Create a file with the name foo.txt", ["/foo.txt"]],
    ["Create three files named x1.txt, x2.txt and x3.txt", ["/x1.txt", "/x2.txt", "/x3.txt"]],
    ["Create 3 files: a1.txt, a2.txt, a3.txt", ["/a1.txt", "/a2.txt", "/a3.txt"]],
    ["Create two files named x1 and x2", ["/x1", "/x2"]],
  ])("%s", async (sentence, paths) => {
    const made = paths.flatMap(() => [MISSING, "ok"]);
    expect(await calls(sentence, made)).toEqual(paths.flatMap((path) => [read(path), write(path, "")]));
    expect(
      await calls(
        sentence,
        paths.map(() => "old"),
      ),
    ).toEqual(paths.map(read));
  });

  test.each<[string, unknown[]]>([
    ["Create an empty file foo.txt", [write("/foo.txt", "")]],
    ["Make a file x.txt and write foo in it", [write("/x.txt", "foo")]],
  ])("%s", async (sentence, expected) => expect(await calls(sentence)).toEqual(expected));

  test("also where it is read next", async () => {
    expect(await calls("Create x.txt, then read the first line of it", [MISSING])).toEqual([
      read("/x.txt"),
      write("/x.txt", ""),
      ["read_file", { file_path: "/x.txt", limit: 1 }],
    ]);
  });
});
