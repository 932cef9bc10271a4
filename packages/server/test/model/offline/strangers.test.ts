import { describe, expect, test } from "vitest";
import { ask } from "./ask.ts";
import { FILE_TOOLS, ODD_TOOLS } from "./tools.ts";

const tools = [...FILE_TOOLS, ...ODD_TOOLS];
const MISSING = { error: 'Error: There is no "x.txt" in the workspace.' };

const read = (file_path: string) => ["read_file", { file_path }];
const remove = (file_path: string) => ["delete", { file_path }];
const run = (command: string) => ["execute", { command }];
const write = (file_path: string, content: string) => ["write_file", { file_path, content }];
const grep = (pattern: string, more = {}) => ["grep", { pattern, ...more }];
const task = (description: string) => ["task", { subagent_type: "general-purpose", description }];
const list = ["ls", { path: "/" }];

async function calls(sentence: string): Promise<unknown[]> {
  return (await ask(sentence, { tools })).calls.map(({ name, args }) => [name, args]);
}

describe("what nobody gave is not written, nor gone on with", () => {
  test.each([
    "Write a poem to poem.txt and show it",
    "Write a poem into poem.txt, then delete it",
    "write me a story and save it as story.md",
    "Write something nice and save it as nice.txt",
  ])("%s", async (sentence) => {
    const { calls: made, text } = await ask(sentence, { tools });
    expect(made).toEqual([]);
    expect(text).toMatch(/^I can't think up what \w+\.\w+ is to hold/);
  });

  test.each<[string, unknown[]]>([
    ["write hello and save it as h.txt", [write("/h.txt", "hello")]],
    ["overwrite notes.txt with nothing", [write("/notes.txt", "")]],
    ['write "nothing" to x.txt', [write("/x.txt", "nothing")]],
    ['Create notes.txt containing exactly the word "hello", no newline', [write("/notes.txt", "hello")]],
    ['"Create a file named q.txt containing hello"', [write("/q.txt", "hello")]],
    [
      "Write exactly this to a.txt: Create b.txt containing x. Then delete c.txt",
      [write("/a.txt", "Create b.txt containing x. Then delete c.txt")],
    ],
    ["Write this to a.txt: it contains x", [write("/a.txt", "it contains x")]],
    ["Write this to a.txt: hello. Then read it", [write("/a.txt", "hello"), read("/a.txt")]],
    ["touch a.txt b.txt", [run("touch a.txt b.txt")]],
    ["Write a poem to poem.txt. Create b.txt containing b, then read it", [write("/b.txt", "b"), read("/b.txt")]],
  ])("%s", async (sentence, expected) => expect(await calls(sentence)).toEqual(expected));
});

describe("a name is taken whole", () => {
  test.each<[string, unknown[]]>([
    ["Create file.with.dots.txt containing 1.5", [write("/file.with.dots.txt", "1.5")]],
    ["Delete notes.old.txt", [remove("/notes.old.txt")]],
    ["Delete backup.tar.7z", []],
    ['Write "a" and "b" to ab.txt', [write("/ab.txt", '"a" and "b"')]],
    ['Write "he said "no" to me" to no.txt', [write("/no.txt", 'he said "no" to me')]],
    ["in src, create b.ts containing 1", [write("/src/b.ts", "1")]],
    ["create b.ts in src containing 1", [write("/src/b.ts", "1")]],
    ["delete a.ts from lib/old", [remove("/lib/old/a.ts")]],
    ["delete the file a.ts inside the folder old", [remove("/old/a.ts")]],
    ["In Python, create hello.py that prints hi", [write("/hello.py", 'print("hi")\n')]],
    ["go to src and list the files", [["ls", { path: "/src" }]]],
    ["cd src and then read a.ts", [read("/src/a.ts")]],
    ["who wrote README.md?", []],
    ["Create a folder docs and move notes.txt into it", [run("mkdir -p docs"), run("mv notes.txt docs/")]],
  ])("%s", async (sentence, expected) => expect(await calls(sentence)).toEqual(expected));
});

describe("all of several things are done", () => {
  test.each<[string, unknown[]]>([
    ["Use the grep tool to find TODO and the ls tool to list files", [grep("TODO"), list]],
    [
      "Use the grep tool to find TODO, the ls tool to list files and the read_file tool to read notes.txt",
      [grep("TODO"), list, read("/notes.txt")],
    ],
    ["Write 'a' to a.txt, 'b' to b.txt", [write("/a.txt", "a"), write("/b.txt", "b")]],
    ["run pwd twice", [run("pwd"), run("pwd")]],
    ["run echo three times", [run("echo three times")]],
    ["run sleep 1 and tell me when it is done", [run("sleep 1")]],
    ["Have a subagent list the files, then read README.md", [task("list the files"), read("/README.md")]],
    ["write a, b to c.txt", [write("/c.txt", "a, b")]],
  ])("%s", async (sentence, expected) => expect(await calls(sentence)).toEqual(expected));
});

describe("where to look is part of what is asked", () => {
  test.each<[string, unknown[]]>([
    ["Search README.md for License", [grep("License", { path: "/README.md" })]],
    ["look through src for TODO", [grep("TODO", { path: "/src" })]],
    ["find all TODO comments in src", [grep("TODO", { path: "/src" })]],
    ["In docs, find TODO", [grep("TODO", { path: "/docs/" })]],
    ["in src list files", [["ls", { path: "/src" }]]],
    ["find app.ts in src", [["glob", { pattern: "src/**/app.ts" }]]],
    ["Is app.ts in src?", [["glob", { pattern: "src/**/app.ts" }]]],
    ["How many TODOs are there?", [grep("TODO")]],
    ["can you list the directory contents please?", [list]],
    ["list files recursively", [["glob", { pattern: "**/*" }]]],
    ["list all files in src and its subfolders", [["glob", { pattern: "src/**/*" }]]],
    ["Is there a README?", [["glob", { pattern: "**/README*" }]]],
    ["what does grep do?", []],
  ])("%s", async (sentence, expected) => expect(await calls(sentence)).toEqual(expected));
});

test("whoever has no name is anybody", async () =>
  expect(await calls("delegate this to a subagent: read notes.txt")).toEqual([task("read notes.txt")]));

test("a command that is only described is not run", async () => {
  const { calls: made, text } = await ask("run a command that lists files", { tools });
  expect(made).toEqual([]);
  expect(text).toContain("I can't think up a command");
});

test("a tool's name that is one slip away is told", async () => {
  expect((await ask("Use the gerp tool to find TODO", { tools })).text).toContain("Did you mean grep?");
  expect((await ask("Use the banana tool", { tools })).text).not.toContain("Did you mean");
});

test("a little word between the items of a list is none of them", async () => {
  const [made] = (await ask("Use write_todos to plan: read notes.txt, then list the files", { tools })).calls;
  expect(made?.args).toMatchObject({ todos: [{ content: "read notes.txt" }, { content: "list the files" }] });
});

test("it may be made to say something else", async () => {
  const { calls: made } = await ask("now make it say bye", { tools, earlier: ["Create a.txt containing hello"] });
  expect(made).toMatchObject([{ name: "write_file", args: { file_path: "/a.txt", content: "bye" } }]);
});

describe("a failure that something was done about is not told", () => {
  test("a file that was looked for before it was made", async () => {
    const { calls: made, text } = await ask("create x.txt", { tools, returns: [MISSING, "Wrote /x.txt"] });
    expect(made.map(({ name }) => name)).toEqual(["read_file", "write_file"]);
    expect(text).toBe("write_file (/x.txt) returned:\nWrote /x.txt");
  });

  test("unless that failed too", async () => {
    const { text } = await ask("create x.txt", { tools, returns: [MISSING, { error: "Error: no space left" }] });
    expect(text).toContain("There is no");
    expect(text).toContain("no space left");
  });
});
