import { describe, expect, test } from "vitest";
import { ask } from "./ask.ts";
import { FILE_TOOLS, ODD_TOOLS } from "./tools.ts";

const tools = [...FILE_TOOLS, ...ODD_TOOLS];
const ls = (path: string) => ["ls", { path }];
const read = (file_path: string) => ["read_file", { file_path }];
const grep = (pattern: string, path?: string) => ["grep", { pattern, ...(path && { path }) }];
const glob = (pattern: string) => ["glob", { pattern }];

async function calls(request: string, returns: readonly (string | { error: string })[] = []): Promise<unknown[]> {
  return (await ask(request, { tools, returns })).calls.map(({ name, args }) => [name, args]);
}

describe("what is looked for is found in all the places that were named", () => {
  test.each<[string, unknown[]]>([
    ["list src", [ls("/src")]],
    ["whats in the src dir", [ls("/src")]],
    ["tell me what's in src", [ls("/src")]],
    ["show directory src", [ls("/src")]],
    ["what is in the src folder and the docs folder?", [ls("/src"), ls("/docs")]],
    ["find all json and yaml files", [glob("**/*.json"), glob("**/*.yaml")]],
    ["look for files that end in .py", [glob("**/*.py")]],
    ["do I have a file called a.txt?", [glob("**/a.txt")]],
    ["grep for TODO in src/app.py and a.txt", [grep("TODO", "/src/app.py"), grep("TODO", "/a.txt")]],
    ["find foo in a.txt and b.txt", [grep("foo", "/a.txt"), grep("foo", "/b.txt")]],
    ["find the word milk", [grep("milk")]],
    ['where is "hello world" mentioned?', [grep("hello world")]],
    ["how often does line appear in log.txt?", [grep("line", "/log.txt")]],
    ["read file a.txt, b.txt", [read("/a.txt"), read("/b.txt")]],
    ["README.md", [read("/README.md")]],
    [
      "fetch https://example.com/page?x=1 as markdown",
      [["browser", { url: "https://example.com/page?x=1", format: "markdown" }]],
    ],
  ])("%s", async (request, expected) => expect(await calls(request)).toEqual(expected));

  test("the readme has an ending in most folders", async () => {
    expect(await calls("read the readme", [{ error: "Error: not found" }])).toEqual([
      read("/README"),
      read("/README.md"),
    ]);
  });
});

describe("words to be said are said without what was said of them", () => {
  test.each([
    ["reply with the single word pong", "pong"],
    ["Answer with PONG only.", "PONG"],
    ["Reply with one word: yes", "yes"],
    ['Reply with nothing but "ok"', "ok"],
    ["please respond with pong and nothing else.", "pong"],
    ['answer "done" and nothing more', "done"],
    ["respond with the number 7", "7"],
    ["repeat: one two three", "one two three"],
    ["count from 10 down to 7", "10 9 8 7"],
  ])("%s", async (request, text) => expect(await ask(request, { tools })).toEqual({ calls: [], text }));
});
