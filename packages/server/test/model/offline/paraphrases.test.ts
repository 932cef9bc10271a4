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
const text = { type: "string" };
const optional = (name: string, ...properties: readonly string[]) => ({
  type: "function",
  function: {
    name,
    description: name,
    parameters: { type: "object", properties: Object.fromEntries(properties.map((property) => [property, text])) },
  },
});
const named = { type: "object", properties: { name: text, content: text }, required: ["name", "content"] };
const KEEPING = [
  optional("recall", "key", "query"),
  { type: "function", function: { name: "save_artifact", description: "Saves.", parameters: named } },
  optional("read_artifact", "id", "name"),
  optional("list_artifacts", "artifact_type"),
];
const limit = { type: "object", properties: { limit: { type: ["number", "null"] } }, required: ["limit"] };
const LIMIT = { type: "function", function: { name: "set_limit", description: "Sets a limit.", parameters: limit } };
const tools = [...FILE_TOOLS, ...ODD_TOOLS, ISSUE, REMEMBER, LIMIT, ...KEEPING];

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
    "Don't read a.txt and delete b.txt",
    "Never delete, rename or move a.txt",
    "don't do anything",
    "delete all .txt files",
    "delete all txt files in src/",
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
      [["remember", { key: "my-favourite-colour", content: "my favourite colour is blue" }]],
    ],
    ["Use the remember tool with key tea and content green", [["remember", { key: "tea", content: "green" }]]],
    [
      "Use sendEmail with to bob@example.com, subject Hi and body How are you",
      [["sendEmail", { to: "bob@example.com", subject: "Hi", body: "How are you" }]],
    ],
    ["Find TODO comments", [["grep", { pattern: "TODO" }]]],
    ["Search for TODO in the src folder", [["grep", { pattern: "TODO", path: "/src/" }]]],
    ["Find TODO in this folder", [["grep", { pattern: "TODO" }]]],
    ["Use set_limit with limit=null", [["set_limit", { limit: null }]]],
    ["Use set_limit with limit=5", [["set_limit", { limit: 5 }]]],
    ['Find all occurrences of "foo bar"', [["grep", { pattern: "foo bar" }]]],
    ['Use the grep tool with pattern "a|b" and path /src', [["grep", { pattern: "a|b", path: "/src" }]]],
    [
      'use create_issue with title "Crash at start" and labels bug, urgent',
      [["tracker_create_issue", { title: "Crash at start", labels: ["bug", "urgent"] }]],
    ],
  ])("%s", async (sentence, expected) => expect(await calls(sentence)).toEqual(expected));
});

describe("text in files of a kind is looked for in those", () => {
  const parameters = { type: "object", properties: { pattern: text, glob: text }, required: ["pattern"] };
  const GREP = { type: "function", function: { name: "grep", description: "Finds text.", parameters } };
  test.each([
    ["Find every TODO in *.js files", { pattern: "TODO", glob: "*.js" }],
    ["Look for 'foo bar' in all Python files", { pattern: "foo bar", glob: "*.py" }],
  ])("%s", async (sentence, args) =>
    expect((await ask(sentence, { tools: [optional("glob", "pattern"), GREP] })).calls).toEqual([
      { name: "grep", args },
    ]),
  );
});

describe("all that is asked for is done, and no more", () => {
  const run = (command: string) => ["execute", { command }];
  const read = (file_path: string) => ["read_file", { file_path }];
  const remove = (file_path: string) => ["delete", { file_path }];
  const write = (file_path: string, content: string) => ["write_file", { file_path, content }];
  const ls = ["ls", { path: "/" }];
  const task = (description: string) => ["task", { subagent_type: "researcher", description }];
  test.each([
    ["Run the command `echo hi` and show me its output", [run("echo hi")]],
    ["Run the command `echo hi` and show me its output please", [run("echo hi")]],
    ["Run the command: `echo hi` and show me the output", [run("echo hi")]],
    ["run ls -la and show me the output", [run("ls -la")]],
    ["run ls -la please", [run("ls -la")]],
    ["Run the command: echo please", [run("echo please")]],
    ["run ls and then pwd", [run("ls"), run("pwd")]],
    ["run `echo a` and then `echo b`", [run("echo a"), run("echo b")]],
    ["Run `ls`, `pwd` and `whoami`", [run("ls"), run("pwd"), run("whoami")]],
    ["please run pwd, then whoami, then list the files", [run("pwd"), run("whoami"), ls]],
    ["Hi there! Run the command: pwd", [run("pwd")]],
    ["git status", [run("git status")]],
    ["grep -r TODO .", [run("grep -r TODO .")]],
    ["Run the command echo a; echo b", [run("echo a; echo b")]],
    ["Execute these commands: ls, pwd", [run("ls"), run("pwd")]],
    ["Run the following:\n```\nls\npwd\n```", [run("ls\npwd")]],
    ["run ls in the src folder", [run("sh -c 'cd src && ls'")]],
    ["what's the output of `pwd`?", [run("pwd")]],
    ["use execute to run ls", [run("ls")]],
    ["create a folder named docs", [run("mkdir -p docs")]],
    ["move a.txt and b.txt into docs/", [run("mv a.txt b.txt docs/")]],
    ["can you show me the files?", [ls]],
    ["list all files and folders", [ls]],
    ["show me the directory tree", [ls]],
    ["Hello! Could you please list the files?", [ls]],
    ["don't worry, just list the files", [ls]],
    [
      "list the files in src and docs",
      [
        ["ls", { path: "/src" }],
        ["ls", { path: "/docs" }],
      ],
    ],
    ["1) list the files 2) read notes.txt", [ls, read("/notes.txt")]],
    ["tell me what files exist and what notes.txt says", [ls, read("/notes.txt")]],
    ["read notes.txt in the docs folder", [read("/docs/notes.txt")]],
    ["read me the first 10 lines of notes.txt", [["read_file", { file_path: "/notes.txt", limit: 10 }]]],
    ["use read_file on a.txt and b.txt", [read("/a.txt"), read("/b.txt")]],
    ["call read_file with file_path notes.txt", [read("/notes.txt")]],
    ["delete the file called old notes.txt", [remove("/old notes.txt")]],
    ["delete the docs folder", [remove("/docs")]],
    ["In the file notes.txt write hello", [write("/notes.txt", "hello")]],
    ["notes.txt should contain hello", [write("/notes.txt", "hello")]],
    ["Create a file notes.txt in the docs folder saying hi", [write("/docs/notes.txt", "hi")]],
    ["put 'v1.2' in version.txt", [write("/version.txt", "v1.2")]],
    ["clear the file notes.txt", [write("/notes.txt", "")]],
    ["use write_file to create x.txt with hi", [write("/x.txt", "hi")]],
    ["write_file x.txt hi", [write("/x.txt", "hi")]],
    [
      "in notes.txt change hello to bye and world to mars",
      [
        ["edit_file", { file_path: "/notes.txt", old_string: "hello", new_string: "bye" }],
        ["edit_file", { file_path: "/notes.txt", old_string: "world", new_string: "mars" }],
      ],
    ],
    [
      "use edit_file on notes.txt to replace hello with bye",
      [["edit_file", { file_path: "/notes.txt", old_string: "hello", new_string: "bye" }]],
    ],
    ["search for foo in notes.txt", [["grep", { pattern: "foo", path: "/notes.txt" }]]],
    ['grep "hello" in src/', [["grep", { pattern: "hello", path: "/src/" }]]],
    ["find all markdown files", [["glob", { pattern: "**/*.md" }]]],
    ["find every .ts file", [["glob", { pattern: "**/*.ts" }]]],
    ["find the file config.yaml", [["glob", { pattern: "**/config.yaml" }]]],
    ["use glob to find all *.ts files", [["glob", { pattern: "*.ts" }]]],
    ["search the web for langgraph", [["search", { query: "langgraph" }]]],
    ["open https://example.com", [["browser", { url: "https://example.com" }]]],
    ["what do you remember?", [["recall", {}]]],
    ["what do you remember about deploys?", [["recall", { query: "deploys" }]]],
    ["recall my favourite colour", [["recall", { query: "my favourite colour" }]]],
    ["do you remember the code?", [["recall", { query: "code" }]]],
    ["remember this: tea is green", [["remember", { key: "tea-is-green", content: "tea is green" }]]],
    [
      "Create an artifact called report.md containing hello",
      [["save_artifact", { name: "report.md", content: "hello" }]],
    ],
    ["Save hello as an artifact named report.md", [["save_artifact", { name: "report.md", content: "hello" }]]],
    ["save an artifact named plan: step one", [["save_artifact", { name: "plan", content: "step one" }]]],
    ["show me the artifacts", [["list_artifacts", {}]]],
    ["show me the artifact report.md", [["read_artifact", { name: "report.md" }]]],
    ["@researcher find the license", [task("find the license")]],
    ["researcher: find the license", [task("find the license")]],
    ["could you delegate finding the license to the researcher agent?", [task("finding the license")]],
    ["use the task tool to have researcher find the license", [task("find the license")]],
    [
      "use a subagent to find the license",
      [["task", { subagent_type: "general-purpose", description: "find the license" }]],
    ],
    ["Create a.txt with one and b.txt with two", [write("/a.txt", "one"), write("/b.txt", "two")]],
    ["write hello to a.txt and bye to b.txt", [write("/a.txt", "hello"), write("/b.txt", "bye")]],
    ["Create a.txt and b.txt, each containing hello", [write("/a.txt", "hello"), write("/b.txt", "hello")]],
    ["Create a.txt containing see b.txt and c.txt", [write("/a.txt", "see b.txt and c.txt")]],
    ["Read notes.txt and package.json", [read("/notes.txt"), read("/package.json")]],
    ['Read "a.txt", "b.txt" and tell me what they say', [read("/a.txt"), read("/b.txt")]],
    ["display notes.txt and then package.json", [read("/notes.txt"), read("/package.json")]],
    ["delete notes.txt and a.txt", [remove("/notes.txt"), remove("/a.txt")]],
    ["List the files; read notes.txt; delete a.txt", [ls, read("/notes.txt"), remove("/a.txt")]],
    [
      "List the files, read package.json and then create summary.md saying ok",
      [ls, read("/package.json"), write("/summary.md", "ok")],
    ],
    ["Create a.txt containing hi, read it, and delete it", [write("/a.txt", "hi"), read("/a.txt"), remove("/a.txt")]],
    ["rename notes.txt to other.txt", [run("mv notes.txt other.txt")]],
    ['move "my notes.txt" to docs/notes.txt', [run("mv 'my notes.txt' docs/notes.txt")]],
    ["copy notes.txt to backup.txt", [run("cp notes.txt backup.txt")]],
    ["Don't touch notes.txt, but create b.txt containing x", [write("/b.txt", "x")]],
    ["Without touching notes.txt, create b.txt containing x", [write("/b.txt", "x")]],
    ["overwrite notes.txt with new text", [write("/notes.txt", "new text")]],
    ["replace the contents of notes.txt with bye", [write("/notes.txt", "bye")]],
    ["update notes.txt to say hello", [write("/notes.txt", "hello")]],
    ["write a file hello.py that prints hello", [write("/hello.py", 'print("hello")\n')]],
    ["create a script run.sh which echoes it's done", [write("/run.sh", "echo 'it'\\''s done'\n")]],
    ['create a new file hello.txt with "hello there" inside', [write("/hello.txt", "hello there")]],
    ["I want a file named foo.txt that says bar", [write("/foo.txt", "bar")]],
    ["get the researcher to list the files and read notes.txt", [task("list the files and read notes.txt")]],
  ])("%s", async (sentence, expected) => expect(await calls(sentence)).toEqual(expected));

  test.each(["Create poem.txt about the sea", "write a haiku about cats to poem.txt"])(
    "what would have to be thought up is not told as done: %s",
    async (sentence) => {
      const asked = await ask(sentence, { tools });
      expect(asked.calls).toEqual([]);
      expect(asked.text).toContain("can't think up");
    },
  );

  test("a file is not renamed without a tool that can", async () => {
    const { calls, text } = await ask("rename notes.txt to other.txt", { tools: ODD_TOOLS });
    expect(calls).toEqual([]);
    expect(text).toContain("can't rename notes.txt");
  });
});

describe("a quoted name is the whole name, and a polite order is one", () => {
  const read = (file_path: string) => ["read_file", { file_path }];
  test.each<[string, unknown[]]>([
    ['Create "my notes.txt" with hello', [["write_file", { file_path: "/my notes.txt", content: "hello" }]]],
    [
      'Create "docs/my notes.txt" saying hello, please',
      [["write_file", { file_path: "/docs/my notes.txt", content: "hello" }]],
    ],
    ['What does "my notes.txt" say?', [read("/my notes.txt")]],
    ['What does "cat notes.txt" print?', [["execute", { command: "cat notes.txt" }]]],
    ['Read "a b.txt" and "c d.txt"', [read("/a b.txt"), read("/c d.txt")]],
    ['List the files in "my docs"', [["ls", { path: "/my docs" }]]],
    ["Kindly run the command: ls", [["execute", { command: "ls" }]]],
    ["Could I ask you to run ls -la?", [["execute", { command: "ls -la" }]]],
    ["May I ask you to delete notes.txt?", [["delete", { file_path: "/notes.txt" }]]],
    ["May I delete notes.txt?", []],
  ])("%s", async (sentence, expected) => {
    expect(await calls(sentence)).toEqual(expected);
  });
});

describe("what a file is to hold ends where something else is said", () => {
  const write = (file_path: string, content: string) => ["write_file", { file_path, content }];
  const execute = (command: string) => ["execute", { command }];
  test.each<[string, unknown[]]>([
    ["Create a.txt containing exactly the word hello and nothing else", [write("/a.txt", "hello")]],
    ['Create a.txt containing "hello" and nothing else', [write("/a.txt", "hello")]],
    ["Create a file a.txt whose content is exactly hello, nothing else.", [write("/a.txt", "hello")]],
    ['Create a.txt containing exactly "hello" (without the quotes)', [write("/a.txt", "hello")]],
    ["Create a.txt containing exactly the word hello (no newline)", [write("/a.txt", "hello")]],
    ["Create a.txt containing nothing else matters", [write("/a.txt", "nothing else matters")]],
    ["Create hello.py that prints hi and run it", [write("/hello.py", 'print("hi")\n'), execute("python3 hello.py")]],
    [
      'Create hello.py containing print("hi"), then run it with python3',
      [write("/hello.py", 'print("hi")'), execute("python3 hello.py")],
    ],
    ['Write a script run.sh containing "echo hi" and run it', [write("/run.sh", "echo hi"), execute("sh run.sh")]],
    ["Create «a.txt» containing «hello world»", [write("/a.txt", "hello world")]],
    ["Create « mes notes.txt » with the content « bonjour »", [write("/mes notes.txt", "bonjour")]],
    ["Create a file named „a.txt“ containing „hallo, Welt“", [write("/a.txt", "hallo, Welt")]],
    ["Write ‘hello’ into ‘a.txt’", [write("/a.txt", "hello")]],
    ["Create “a.txt” with the text “it’s fine”", [write("/a.txt", "it’s fine")]],
    ["Create a.txt containing He said «hi» loudly", [write("/a.txt", "He said «hi» loudly")]],
  ])("%s", async (sentence, expected) => {
    expect(await calls(sentence)).toEqual(expected);
  });
});

describe("what is searched, saved or looked at is what was named", () => {
  const save = (name: string, content: string) => ["save_artifact", { name, content }];
  const write = (file_path: string, content: string) => ["write_file", { file_path, content }];
  test.each<[string, unknown[]]>([
    ["Find all files containing TODO", [["grep", { pattern: "TODO" }]]],
    ["Find files that contain TODO", [["grep", { pattern: "TODO" }]]],
    ["List every file that mentions the word license.", [["grep", { pattern: "license" }]]],
    ["Find all markdown files", [["glob", { pattern: "**/*.md" }]]],
    ["Find where TODO occurs in the code", [["grep", { pattern: "TODO" }]]],
    ["Are there any TODOs in the code?", [["grep", { pattern: "TODO" }]]],
    ["look for print in src", [["grep", { pattern: "print", path: "/src" }]]],
    ['Save an artifact named report with the content "done"', [save("report", "done")]],
    ["Save a scratch artifact called s with the text abc", [save("s", "abc")]],
    ["Create an artifact summary with content: all good", [save("summary", "all good")]],
    [
      "Create a.txt with content 1. Then create b.txt with content 2. Then create c.txt with content 3.",
      [write("/a.txt", "1"), write("/b.txt", "2"), write("/c.txt", "3")],
    ],
    [
      "Do this: 1. Run pwd 2. Run ls",
      [
        ["execute", { command: "pwd" }],
        ["execute", { command: "ls" }],
      ],
    ],
    ['Write a file with name "x y.txt" and content "z"', [write("/x y.txt", "z")]],
    ["Explain src/app.py", [["read_file", { file_path: "/src/app.py" }]]],
    ["Tell me about README.md", [["read_file", { file_path: "/README.md" }]]],
    [
      'Use write_todos {"todos":[{"content":"a","status":"pending"}]}',
      [["write_todos", { todos: [{ content: "a", status: "pending" }] }]],
    ],
    [
      'Use write_todos with todos=[{"content":"a","status":"in_progress"},{"content":"b","status":"pending"}]',
      [
        [
          "write_todos",
          {
            todos: [
              { content: "a", status: "in_progress" },
              { content: "b", status: "pending" },
            ],
          },
        ],
      ],
    ],
    [
      "First create a.txt with content 1. Then create b.txt with content 2.",
      [write("/a.txt", "1"), write("/b.txt", "2")],
    ],
  ])("%s", async (sentence, expected) => {
    expect(await calls(sentence)).toEqual(expected);
  });

  test("a package that may be left out", async () => {
    const asked = await ask("Inspect the package zod", { tools: [optional("inspect_package", "name")] });
    expect(asked.calls).toEqual([{ name: "inspect_package", args: { name: "zod" } }]);
  });

  test.each([
    ["Use the nonexistent_tool with x=1", "nonexistent_tool"],
    ['Please call the tool named does_not_exist with arguments {"a": 1}', "does_not_exist"],
    ["call get_stock_price for ACME", "get_stock_price"],
  ])("a tool that is not there is said not to be: %s", async (sentence, name) => {
    const asked = await ask(sentence, { tools });
    expect(asked.calls).toEqual([]);
    expect(asked.text).toContain(`I have no tool named "${name}".`);
  });

  test.each(["Who are you?", "What model are you?", "What are you?", "Which model is this?"])(
    "it says who it is: %s",
    async (sentence) => expect((await ask(sentence, { tools })).text).toMatch(/^I am Cognition's offline model/),
  );
});

describe("every thing that was asked for, and where it was asked for", () => {
  const write = (file_path: string, content: string) => ["write_file", { file_path, content }];
  const read = (file_path: string) => ["read_file", { file_path }];
  const run = (command: string) => ["execute", { command }];
  test.each<[string, unknown[]]>([
    [
      "Save 'hello' in docs/hello.txt and 'bye' in docs/bye.txt",
      [write("/docs/hello.txt", "hello"), write("/docs/bye.txt", "bye")],
    ],
    ["Put hello in a.txt and bye in b.txt", [write("/a.txt", "hello"), write("/b.txt", "bye")]],
    ["Create a.txt with bread and butter in it", [write("/a.txt", "bread and butter")]],
    ["Create a file in docs called new.md with # New", [write("/docs/new.md", "# New")]],
    ["In the docs folder, create a file named new.md saying hi", [write("/docs/new.md", "hi")]],
    ["Create a folder out and put a file r.txt with ok in it", [run("mkdir -p out"), write("/out/r.txt", "ok")]],
    [
      "Make a directory named out, then create r.txt in it containing ok",
      [run("mkdir -p out"), write("/out/r.txt", "ok")],
    ],
    ["ls src", [["ls", { path: "/src" }]]],
    ["ls here", [["ls", { path: "/" }]]],
    ["list files pls", [["ls", { path: "/" }]]],
    [
      "Change all occurrences of foo to bar in src/a.ts",
      [["edit_file", { file_path: "/src/a.ts", old_string: "foo", new_string: "bar", replace_all: true }]],
    ],
    ['Dump "abc" to abc.txt', [write("/abc.txt", "abc")]],
    ["Echo hello into e.txt", [write("/e.txt", "hello")]],
    ["Echo hello", []],
    ["Launch the command pwd", [run("pwd")]],
    ["Start `uname`", [run("uname")]],
    ["find files named guide.md", [["glob", { pattern: "**/guide.md" }]]],
    ["Is there a file called notes.txt?", [["glob", { pattern: "**/notes.txt" }]]],
    ["Does docs/guide.md exist?", [["glob", { pattern: "docs/guide.md" }]]],
    ["Check whether notes.txt exists", [["glob", { pattern: "**/notes.txt" }]]],
    ["first line of a.txt please", [["read_file", { file_path: "/a.txt", limit: 1 }]]],
    ["count the lines in a.txt", [run("wc -l a.txt")]],
    ["How many words are there in my notes.txt?", [run("wc -w notes.txt")]],
    ["Read a.txt and count to 3", [read("/a.txt")]],
    ["My name is Ada. Remember that.", [["remember", { key: "my-name", content: "My name is Ada" }]]],
    ["Remember my name is Ada", [["remember", { key: "my-name", content: "my name is Ada" }]]],
  ])("%s", async (sentence, expected) => expect(await calls(sentence)).toEqual(expected));

  test.each(["help", "Help!", "2 + 2"])("it answers %s", async (sentence) => {
    const { text } = await ask(sentence, { tools });
    expect(text).toContain(sentence === "2 + 2" ? "= 4" : "My tools: ls, read_file");
  });

  test("a line is found by its number", async () => {
    const returns = ["@@ lines 1-3 of 3 @@\none\ntwo\nthree"];
    const asked = await ask("Insert hello after line 2 in a.txt", { tools, returns });
    expect(asked.calls[1]?.args).toMatchObject({ old_string: "two", new_string: "two\nhello" });
  });

  test("all files of a folder are read, those that are there", async () => {
    const listing = "/src/a.ts (3 bytes)\n/src/inner/ (directory)\n/src/b c.ts (4 bytes)";
    const asked = await ask("Read every file in src", { tools, returns: [listing] });
    expect(asked.calls.map(({ name, args }) => [name, args])).toEqual([
      ["ls", { path: "/src" }],
      read("/src/a.ts"),
      read("/src/b c.ts"),
    ]);
  });
});

describe("a file holds what was said, whole, and nothing that was said about it", () => {
  const write = (file_path: string, content: string) => ["write_file", { file_path, content }];
  const edit = (file_path: string, old_string: string, new_string: string) => [
    "edit_file",
    { file_path, old_string, new_string },
  ];
  test.each<[string, unknown[]]>([
    [
      "Save this to x.txt: The quick fox; it jumps. Over the dog!",
      [write("/x.txt", "The quick fox; it jumps. Over the dog!")],
    ],
    ["Create x.txt with these lines:\n- apples\n- pears", [write("/x.txt", "- apples\n- pears")]],
    ["Create a file x.txt with the following three lines:\none\ntwo\nthree", [write("/x.txt", "one\ntwo\nthree")]],
    ["Create x.txt with two lines: foo and bar", [write("/x.txt", "foo\nbar")]],
    ['Put the following text in x.txt:\n"""\nmulti\nline\n"""', [write("/x.txt", "multi\nline")]],
    ["Write the number 42 to answer.txt", [write("/answer.txt", "42")]],
    ["create file x.txt w/ content foo", [write("/x.txt", "foo")]],
    ["pls make x.txt and put the word bar in it", [write("/x.txt", "bar")]],
    [
      "Could you be so kind as to create a file called x.txt whose only content is the word baz?",
      [write("/x.txt", "baz")],
    ],
    ["Make notes.txt say fresh", [write("/notes.txt", "fresh")]],
    ["Create a file named 😀.txt containing smile", [write("/😀.txt", "smile")]],
    ["Create a file named ../out.txt containing x", [write("/../out.txt", "x")]],
    ['Write "my name" to x.txt', [write("/x.txt", "my name")]],
    [
      "Replace alpha with omega in a.txt and beta with psi",
      [edit("/a.txt", "alpha", "omega"), edit("/a.txt", "beta", "psi")],
    ],
    ["Move notes.txt into the docs folder", [["execute", { command: "mv notes.txt docs/" }]]],
  ])("%s", async (sentence, expected) => expect(await calls(sentence)).toEqual(expected));

  test.each([
    ["Create x.txt with my name in it", "can't think up"],
    ["Create a file named x.txt containing today's date", "can't think up"],
    ["Create a file with 3 lines in x.txt", "can't think up"],
    ["Delete the artifact plan.md", "no tool here does that with the artifact"],
    ["Update the artifact plan.md to say two", "no tool here does that with the artifact"],
    ["Rename it to b.txt", "can't tell which file"],
    ["Create a file named CON:aux containing odd", "offline model"],
  ])("or nothing is written, where that is not known: %s", async (sentence, answer) => {
    const asked = await ask(sentence, { tools });
    expect(asked.calls).toEqual([]);
    expect(asked.text).toContain(answer);
  });
});

describe("a command is run as it was given, and where it was meant to run", () => {
  const run = (command: string) => ["execute", { command }];
  test.each<[string, unknown[]]>([
    ["Run the following commands:\n1. echo one\n2. echo two", [run("echo one"), run("echo two")]],
    ["Please execute these commands:\n- echo one\n- ls -la", [run("echo one"), run("ls -la")]],
    [
      "Run the following commands:\n1. echo one\n2. echo two\nThen list the files.",
      [run("echo one"), run("echo two"), ["ls", { path: "/" }]],
    ],
    ["Run these commands one after another: echo one; echo two", [run("echo one; echo two")]],
    ["run `false`, what's the exit code?", [run("false")]],
    ["Could you run a quick `date +%Y`?", [run("date +%Y")]],
    ["Run `echo hi` twice", [run("echo hi"), run("echo hi")]],
    ["Run `echo hi` in the docs folder", [run("sh -c 'cd docs && echo hi'")]],
    ["Execute ls with the flags -l and -a", [run("ls -l -a")]],
    ["ls | wc -l", [run("ls | wc -l")]],
    ["cat a.txt | grep beta", [run("cat a.txt | grep beta")]],
    ['echo "hi" > x.txt', [run('echo "hi" > x.txt')]],
    ["cd src && ls", [run("cd src && ls")]],
    [
      "list the files; read a.txt",
      [
        ["ls", { path: "/" }],
        ["read_file", { file_path: "/a.txt" }],
      ],
    ],
  ])("%s", async (sentence, expected) => expect(await calls(sentence)).toEqual(expected));
});
