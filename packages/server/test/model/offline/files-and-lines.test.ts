import { describe, expect, test } from "vitest";
import { ask } from "./ask.ts";
import { FILE_TOOLS } from "./tools.ts";

const run = (command: string) => ["execute", { command }];
const read = (file_path: string) => ["read_file", { file_path }];
const write = (file_path: string, content: string) => ["write_file", { file_path, content }];

type Return = string | { error: string };

async function calls(request: string, returns: readonly Return[] = []): Promise<unknown[]> {
  return (await ask(request, { tools: FILE_TOOLS, returns })).calls.map(({ name, args }) => [name, args]);
}

describe("a file goes where it was to go", () => {
  test.each<[string, unknown[]]>([
    ["rename a.txt to b.txt then read it", [run("mv a.txt b.txt"), read("/b.txt")]],
    ["move docs/guide.md to the root folder", [run("mv docs/guide.md .")]],
    ["move docs/guide.md to the project root", [run("mv docs/guide.md .")]],
    ["move a.txt to a folder called old", [run("mv a.txt old/")]],
    ["move a.txt, b.txt to docs", [run("mv a.txt b.txt docs/")]],
    ["rename a.txt to b", [run("mv a.txt b")]],
    ["copy the folder docs to backup/docs", [run("cp -r docs backup/docs")]],
    ["rename the folder docs to manual", [run("mv docs manual")]],
  ])("%s", async (request, expected) => expect(await calls(request)).toEqual(expected));

  test("and a folder that is missing is made, once that is seen", async () => {
    const missing =
      "/usr/bin/mv: cannot move 'a.txt' to 'archive/': Not a directory\n[Command failed with exit code 1]";
    expect(await calls("move a.txt to the archive folder", [missing])).toEqual([
      run("mv a.txt archive/"),
      run("mkdir -p archive/"),
      run("mv a.txt archive/"),
    ]);
  });
});

describe("all that a sentence names is done, and where it names it", () => {
  test.each<[string, unknown[]]>([
    ["copy a.txt to b.txt and c.txt", [run("cp a.txt b.txt"), run("cp a.txt c.txt")]],
    ["move a.txt to b.txt and c.txt", []],
    [
      "delete docs/guide.md and then the docs folder",
      [
        ["delete", { file_path: "/docs/guide.md" }],
        ["delete", { file_path: "/docs" }],
      ],
    ],
    [
      "show the first line of a.txt and the last line of log.txt",
      [["read_file", { file_path: "/a.txt", limit: 1 }], run("tail -n 1 log.txt")],
    ],
    ["make index.html with <h1>Hello</h1>", [write("/index.html", "<h1>Hello</h1>")]],
    ["run npm install in packages/app", [run("sh -c 'cd packages/app && npm install'")]],
    ["in the src directory run ls -l", [run("sh -c 'cd src && ls -l'")]],
    ["run ls -l in the src folder please", [run("sh -c 'cd src && ls -l'")]],
    ["run echo hello in style", [run("echo hello in style")]],
    ["run npm test in verbose mode", [run("npm test in verbose mode")]],
    ["run `cat a.txt` and tell me if it failed", [run("cat a.txt")]],
    ["how big is log.txt?", [run("wc -c log.txt")]],
    ["what is the current date?", [run("date")]],
    ["what's my current working directory?", [run("pwd")]],
    [
      "replace hello with bye everywhere in a.txt",
      [["edit_file", { file_path: "/a.txt", old_string: "hello", new_string: "bye", replace_all: true }]],
    ],
  ])("%s", async (request, expected) => expect(await calls(request)).toEqual(expected));
});

describe("several things to be written are told apart", () => {
  test.each<[string, unknown[]]>([
    ["Make shopping.txt with milk, eggs and bread on separate lines", [write("/shopping.txt", "milk\neggs\nbread")]],
    ["write foo and bar to x.txt, one per line", [write("/x.txt", "foo\nbar")]],
    ["Create list.txt with apples, pears, each on its own line", [write("/list.txt", "apples\npears")]],
    ["Create poem.txt containing I walk on a line", [write("/poem.txt", "I walk on a line")]],
    [
      "make three files one.txt, two.txt and three.txt containing 1, 2 and 3",
      [write("/one.txt", "1"), write("/two.txt", "2"), write("/three.txt", "3")],
    ],
    ['Create a.txt and b.txt with "foo" and "bar"', [write("/a.txt", "foo"), write("/b.txt", "bar")]],
    ["Create a.txt and b.txt with foo and bar respectively", [write("/a.txt", "foo"), write("/b.txt", "bar")]],
    [
      "Create a.txt and b.txt containing bread and butter",
      [write("/a.txt", "bread and butter"), write("/b.txt", "bread and butter")],
    ],
  ])("%s", async (request, expected) => expect(await calls(request)).toEqual(expected));
});

describe("what a file holds is what was given, and not what was said of it", () => {
  test.each<[string, unknown[]]>([
    ['save my message "hi there" in msg.txt', [write("/msg.txt", "hi there")]],
    ['store the JSON {"k": [1, 2]} in k.json', [write("/k.json", '{"k": [1, 2]}')]],
    ['write the word "hello" three times to h.txt', [write("/h.txt", "hello hello hello")]],
    ["create abc.txt with lines a, b and c", [write("/abc.txt", "a\nb\nc")]],
    ['create a.txt containing the answer is "42"', [write("/a.txt", 'the answer is "42"')]],
    ['create a.txt with a "quoted" word', [write("/a.txt", 'a "quoted" word')]],
    ["Write Python code that prints hello to hello.py", []],
    [
      'replace the word "beta" in a.txt by "BETA"',
      [["edit_file", { file_path: "/a.txt", old_string: "beta", new_string: "BETA" }]],
    ],
    [
      "Find out which files mention TODO and list them",
      [
        ["grep", { pattern: "TODO" }],
        ["ls", { path: "/" }],
      ],
    ],
  ])("%s", async (request, expected) => expect(await calls(request)).toEqual(expected));

  test("nor the name of the file that holds it", async () => {
    expect(await calls("overwrite b.txt with the content of a.txt", ["alpha"])).toEqual([
      ["read_file", { file_path: "/a.txt", limit: 100_000 }],
      write("/b.txt", "alpha"),
    ]);
  });
});

describe("lines are what is in a file, not what is said of them", () => {
  const after = async (request: string, text: string) => {
    const edit = (await calls(request, [text])).find((call) => (call as string[])[0] === "edit_file") as
      | [string, { old_string: string; new_string: string }]
      | undefined;
    return edit ? text.replace(edit[1].old_string, () => edit[1].new_string) : text;
  };
  test.each([
    ["insert a blank line after line 1 of a.txt", "a\nb", "a\n\nb"],
    ["append two lines to notes.txt: foo and bar", "a", "a\nfoo\nbar"],
    ["add a row with dave,9 to data.csv", "name,age\nann,3", "name,age\nann,3\ndave,9"],
    ["remove all the lines containing TODO from a.txt", "a TODO\nb\nc TODO\nd", "b\nd"],
    ["In a.txt, delete every line that mentions TODO", "a\nb TODO\nc", "a\nc"],
    ["remove the lines starting with # from a.txt", "# x\nb\n # y", "b\n # y"],
    ["remove all lines containing x from a.txt", "a\nb", "a\nb"],
  ])("%s", async (request, text, expected) => expect(await after(request, text)).toBe(expected));

  test.each<[string, string, unknown[]]>([
    ["read a.txt and write its first line to f.txt", "a\nb", [read("/a.txt"), write("/f.txt", "a")]],
    [
      "save the last line of a.txt to b.txt",
      "a\nb",
      [["read_file", { file_path: "/a.txt", limit: 100_000 }], write("/b.txt", "b")],
    ],
  ])("%s", async (request, text, expected) => expect(await calls(request, [text])).toEqual(expected));
});
