import { describe, expect, test } from "vitest";
import { ask } from "./ask.ts";
import { FILE_TOOLS, ODD_TOOLS } from "./tools.ts";

const labels = { type: "array", items: { type: "string" } };
const parameters = { type: "object", properties: { title: { type: "string" }, labels }, required: ["title"] };
const ISSUE = {
  type: "function",
  function: { name: "tracker_create_issue", description: "Creates an issue.", parameters },
};
const keyed = {
  type: "object",
  properties: { key: { type: "string" }, content: { type: "string" } },
  required: ["key", "content"],
};
const REMEMBER = { type: "function", function: { name: "remember", description: "Keeps a fact.", parameters: keyed } };
const tools = [...FILE_TOOLS, ...ODD_TOOLS, ISSUE, REMEMBER];

async function calls(sentence: string): Promise<unknown[]> {
  return (await ask(sentence, { tools })).calls.map(({ name, args }) => [name, args]);
}

describe("what is not asked for is not done", () => {
  test.each([
    "Do not delete notes.txt",
    "Please don't delete notes.txt.",
    "Never run the command: rm -rf /",
    "How do I delete notes.txt?",
    "Should I delete notes.txt?",
    "Why did you delete notes.txt?",
    "What happens if I delete notes.txt?",
    "How do I create notes.txt?",
    "Explain how to replace foo with bar in notes.txt",
    "Use the frobnicate tool",
    "Use the sendEmail tool",
  ])("%s", async (sentence) => expect(await calls(sentence)).toEqual([]));

  test("a tool that was only named says what it needs", async () => {
    const { text } = await ask("Use the sendEmail tool", { tools });
    expect(text).toContain("sendEmail needs to and subject and body");
  });
});

describe("the file that is named is the one that is meant", () => {
  const write = (file_path: string, content: string) => ["write_file", { file_path, content }];
  test.each([
    ['Delete "a b.txt"', [["delete", { file_path: "/a b.txt" }]]],
    ['Please read the file "my notes.txt"', [["read_file", { file_path: "/my notes.txt" }]]],
    ['Save "x y" to "my notes.txt"', [write("/my notes.txt", "x y")]],
    ["Write 'see a.txt' to b.txt", [write("/b.txt", "see a.txt")]],
    ["Create a file named über.txt containing exactly: grüße", [write("/über.txt", "grüße")]],
    ["Create a file named 笔记.txt containing exactly the word 你好", [write("/笔记.txt", "你好")]],
    ["Create a file named a.txt containing delete me", [write("/a.txt", "delete me")]],
    ["Create a file named a.txt containing exactly: line one", [write("/a.txt", "line one")]],
    ["Create a.txt with hello, but do not delete b.txt", [write("/a.txt", "hello")]],
    ['Could you create a text file, out.txt, whose content is "done"?', [write("/out.txt", "done")]],
    ["Make a file x.txt and write foo in it", [write("/x.txt", "foo")]],
    ["Can you delete notes.txt?", [["delete", { file_path: "/notes.txt" }]]],
  ])("%s", async (sentence, expected) => expect(await calls(sentence)).toEqual(expected));
});

describe("other ways to say it", () => {
  const run = (command: string) => ["execute", { command }];
  test.each([
    ["What's in the docs folder?", [["ls", { path: "/docs" }]]],
    ["Give me a directory listing", [["ls", { path: "/" }]]],
    ["run this: whoami", [run("whoami")]],
    ["Run ```sh\necho one\necho two\n```", [run("echo one\necho two")]],
    ["Run the tests with npm test", [run("npm test")]],
    ["First run pwd. Then list the files.", [run("pwd"), ["ls", { path: "/" }]]],
    [
      "Remember that my favourite colour is blue",
      [["remember", { key: "my-favourite-colour-is", content: "my favourite colour is blue" }]],
    ],
    ["Use the remember tool with key tea and content green", [["remember", { key: "tea", content: "green" }]]],
    [
      "Use sendEmail with to bob@example.com, subject Hi and body How are you",
      [["sendEmail", { to: "bob@example.com", subject: "Hi", body: "How are you" }]],
    ],
    ["Find TODO comments", [["grep", { pattern: "TODO" }]]],
    ['Find all occurrences of "foo bar"', [["grep", { pattern: "foo bar" }]]],
    ['Use the grep tool with pattern "a|b" and path /src', [["grep", { pattern: "a|b", path: "/src" }]]],
    [
      'use create_issue with title "Crash at start" and labels bug, urgent',
      [["tracker_create_issue", { title: "Crash at start", labels: ["bug", "urgent"] }]],
    ],
  ])("%s", async (sentence, expected) => expect(await calls(sentence)).toEqual(expected));
});
