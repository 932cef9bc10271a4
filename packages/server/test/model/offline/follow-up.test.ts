import { describe, expect, test } from "vitest";
import { ask } from "./ask.ts";
import { FILE_TOOLS } from "./tools.ts";

async function after(earlier: readonly string[], request: string) {
  const { calls, text } = await ask(request, { tools: FILE_TOOLS, earlier, returns: ["@@ lines 1-1 of 1 @@\none"] });
  return { calls: calls.map(({ name, args }) => [name, args]), text };
}

const read = (file_path: string) => ["read_file", { file_path }];
const remove = (file_path: string) => ["delete", { file_path }];
const run = (command: string) => ["execute", { command }];
const CREATE = "Create a file named t1.txt containing one";

describe("what only an earlier message tells", () => {
  test.each<[string[], string, unknown[]]>([
    [[CREATE], "now delete it", [remove("/t1.txt")]],
    [[CREATE], "Please delete that file.", [remove("/t1.txt")]],
    [[CREATE, "thanks"], "what is in it now?", [read("/t1.txt")]],
    [[CREATE], "rename it to t2.txt", [run("mv t1.txt t2.txt")]],
    [[CREATE, "rename it to t2.txt"], "read it", [read("/t2.txt")]],
    [[CREATE], "How many lines does it have?", [run("wc -l t1.txt")]],
    [["Create a.txt with one and b.txt with two"], "delete both of them", [remove("/a.txt"), remove("/b.txt")]],
    [["Read a.txt"], "do that again", [read("/a.txt")]],
    [["Read a.txt", "again"], "once more, please", [read("/a.txt")]],
    [["Run `echo hi`"], "run it again", [run("echo hi")]],
    [["Read a.txt"], "and b.txt?", [read("/b.txt")]],
    [['Read "my notes.txt"'], "read it again", [read("/my notes.txt")]],
    [
      [CREATE],
      "Create a file named it.txt containing it works",
      [["write_file", { file_path: "/it.txt", content: "it works" }]],
    ],
  ])("%j, then: %s", async (earlier, request, expected) =>
    expect((await after(earlier, request)).calls).toEqual(expected),
  );

  test.each([
    'Read "a\\"b.txt" please',
    "Create a file called my https://example.com notes.txt",
    'Read the file "my\nnotes.txt"',
    'Read "a\\\\b.txt" and c.txt',
  ])("a name that stands otherwise in an earlier message is not looked for in it for ever: %j", async (earlier) => {
    expect((await after([earlier], "thanks")).calls).toEqual([]);
  });

  test("a name with escapes is what was meant, too", async () => {
    const earlier = ['Read "a\\"b.txt"'];
    expect((await after(earlier, "delete it")).calls).toEqual([remove('/a"b.txt')]);
    expect((await after(earlier, "and d.txt?")).calls).toEqual([]);
  });

  test("goes on in the file that was meant", async () => {
    const { calls } = await after([CREATE], "append two to that file");
    expect(calls[1]).toEqual(["edit_file", { file_path: "/t1.txt", old_string: "one", new_string: "one\ntwo" }]);
  });

  test.each<[string[], string]>([
    [["Create a.txt with one and b.txt with two"], "delete it"],
    [["Delete a.txt"], "what about b.txt?"],
    [["Save an artifact called plan.md containing one"], "delete it"],
    [[CREATE], "never mind"],
    [[CREATE], "forget it"],
    [[CREATE], "Undo that"],
    [[CREATE], "Don't delete it"],
    [[], "again"],
    [[], "delete it"],
  ])("does not decide: %j, then: %s", async (earlier, request) =>
    expect((await after(earlier, request)).calls).toEqual([]),
  );
});

test("of a quoted name with blanks in it the end alone is never taken", async () => {
  const { calls } = await ask('Delete the first line of "my notes.txt"', {
    tools: FILE_TOOLS,
    returns: ["@@ lines 1-2 of 2 @@\none\ntwo"],
  });
  expect(calls.map(({ name, args }) => [name, (args as { file_path: string }).file_path])).toEqual([
    ["read_file", "/my notes.txt"],
    ["edit_file", "/my notes.txt"],
  ]);
});

describe("what the message before was about is what the next one is about", () => {
  test.each<[string, string, unknown[]]>([
    [
      "Create a.md with alpha, then append beta to it",
      "now replace alpha with gamma",
      [["edit_file", { file_path: "/a.md", old_string: "alpha", new_string: "gamma" }]],
    ],
    ["Create a.md with alpha", "and rename it to c.md", [["execute", { command: "mv a.md c.md" }]]],
    ["list files in src", "read app.py in there", [["read_file", { file_path: "/src/app.py" }]]],
    ["list files in src", "find TODO in there", [["grep", { pattern: "TODO", path: "/src/" }]]],
    ["Create x.txt with one", "do the same for y.txt", [["write_file", { file_path: "/y.txt", content: "one" }]]],
    ["delete x.txt and y.txt", "append foo", []],
    ["Create x.txt with one", "replace foo with bar in all files", []],
    ["Create x.txt with one", "is x.txt still there?", [["glob", { pattern: "**/x.txt" }]]],
  ])("%s, then: %s", async (before, request, expected) => {
    const { calls } = await ask(request, { tools: FILE_TOOLS, earlier: [before] });
    expect(calls.map(({ name, args }) => [name, args])).toEqual(expected);
  });
});
