import { describe, expect, test } from "vitest";
import { ask } from "./ask.ts";
import { FILE_TOOLS, ODD_TOOLS } from "./tools.ts";

const tools = [...FILE_TOOLS, ...ODD_TOOLS];
type Call = readonly [string, Record<string, unknown>];
type Case = readonly [string, ...Call[]];

const ls = (path = "/"): Call => ["ls", { path }];
const read = (file_path: string): Call => ["read_file", { file_path }];
const write = (file_path: string, content: string): Call => ["write_file", { file_path, content }];
const run = (command: string): Call => ["execute", { command }];
const grep = (pattern: string, more: object = {}): Call => ["grep", { pattern, ...more }];
const edit = (file_path: string, old_string: string, new_string: string, more: object = {}): Call => [
  "edit_file",
  { file_path, old_string, new_string, ...more },
];
const task = (subagent_type: string, description: string): Call => ["task", { subagent_type, description }];

const CASES: readonly (readonly [string, readonly Case[]])[] = [
  [
    "lists files",
    [
      ["List the files in this directory.", ls()],
      ["list files", ls()],
      ["ls", ls()],
      ["What files are here?", ls()],
      ["Show me all the files in the current folder", ls()],
      ["Please list everything in the src directory", ls("/src")],
      ["Which files do you have in docs/guide?", ls("/docs/guide")],
      ["Could you show me the contents of this folder?", ls()],
      ["What's in the workspace directory?", ls()],
      ["Use the ls tool on /src", ls("/src")],
    ],
  ],
  [
    "reads files",
    [
      ["Read the file a.txt", read("/a.txt")],
      ["read a.txt", read("/a.txt")],
      ["Show me what is in notes.txt.", read("/notes.txt")],
      ["What does src/main.ts contain?", read("/src/main.ts")],
      ["Open the file called README.md and tell me what it says", read("/README.md")],
      ["Please print the contents of /etc/hosts.conf", read("/etc/hosts.conf")],
      ["Use read_file on config.yaml", read("/config.yaml")],
      ['Use the read_file tool with file_path="/a b.txt"', read("/a b.txt")],
      ["What is inside package.json?", read("/package.json")],
    ],
  ],
  [
    "creates files",
    [
      ["Create a file named notes.txt containing exactly the word hello", write("/notes.txt", "hello")],
      ["Create a file called notes.txt with the content hello world.", write("/notes.txt", "hello world")],
      ['Write "hello, world." to notes.txt', write("/notes.txt", "hello, world.")],
      ["Write hello to a file named greeting.txt", write("/greeting.txt", "hello")],
      ["Save the text good morning as morning.md", write("/morning.md", "good morning")],
      ["Make a new file src/a.ts that contains `export const a = 1;`", write("/src/a.ts", "export const a = 1;")],
      ["Create an empty file empty.txt", write("/empty.txt", "")],
      ["Put the word banana into fruit.txt", write("/fruit.txt", "banana")],
      [
        "Create a file a.py with the following content:\n```python\nprint('hi')\nprint('ho')\n```",
        write("/a.py", "print('hi')\nprint('ho')"),
      ],
      [
        "Create todo.md containing:\n- list the files\n- read a.txt",
        write("/todo.md", "- list the files\n- read a.txt"),
      ],
      ["Please create \"report.md\" that says 'done'", write("/report.md", "done")],
      ['Use write_file with file_path=/x.txt and content="a and b"', write("/x.txt", "a and b")],
      ['Use the write_file tool with {"file_path": "/j.txt", "content": "from json"}', write("/j.txt", "from json")],
    ],
  ],
  [
    "edits and deletes files",
    [
      ["edit a.txt: replace foo with bar", edit("/a.txt", "foo", "bar")],
      ["In a.txt, replace 'foo' by 'bar'.", edit("/a.txt", "foo", "bar")],
      ["Change hello to goodbye in notes.txt", edit("/notes.txt", "hello", "goodbye")],
      [
        "Replace every occurrence of cat with dog in animals.txt",
        edit("/animals.txt", "cat", "dog", { replace_all: true }),
      ],
      ["Edit the file src/a.ts and replace `a = 1` with `a = 2`", edit("/src/a.ts", "a = 1", "a = 2")],
      ["Delete the file old.txt", ["delete", { file_path: "/old.txt" }]],
      ["Please remove tmp/cache.json", ["delete", { file_path: "/tmp/cache.json" }]],
    ],
  ],
  [
    "runs commands",
    [
      ["Run the command: ls -la", run("ls -la")],
      ["Run the command ls -la", run("ls -la")],
      ["run `npm test`", run("npm test")],
      ["Execute the shell command echo hello && echo done", run("echo hello && echo done")],
      ["Please execute: git status", run("git status")],
      ["In the terminal, run: cat a.txt | wc -l", run("cat a.txt | wc -l")],
      ["Run the following command: for i in 1 2 3; do echo $i; done", run("for i in 1 2 3; do echo $i; done")],
      ["run node --version", run("node --version")],
      ["$ whoami", run("whoami")],
      ["Use the execute tool to run `sleep 1`", run("sleep 1")],
    ],
  ],
  [
    "searches",
    [
      ["Use the grep tool to find TODO", grep("TODO")],
      ["Use grep to search for the word TODO in src", grep("TODO", { path: "/src" })],
      ["grep TODO", grep("TODO")],
      ["Find TODO in all files", grep("TODO")],
      ['Search the code for "createModel"', grep("createModel")],
      ["Which files contain the word license?", grep("license")],
      ["Find FIXME with the grep tool", grep("FIXME")],
      ["Call grep with pattern=TODO and output_mode=count", grep("TODO", { output_mode: "count" })],
      ["Find all files matching **/*.ts", ["glob", { pattern: "**/*.ts" }]],
      ["Use glob with the pattern *.md", ["glob", { pattern: "*.md" }]],
    ],
  ],
  [
    "delegates",
    [
      ["Delegate to researcher: find the license", task("researcher", "find the license")],
      ["Delegate this to the researcher: find the license.", task("researcher", "find the license")],
      ["Ask the researcher to find the license", task("researcher", "find the license")],
      ["Have researcher look up the license", task("researcher", "look up the license")],
      ["Use the researcher subagent to find the license", task("researcher", "find the license")],
      ["Hand over finding the license to the researcher", task("researcher", "finding the license")],
      ["Delegate to general-purpose: list the files", task("general-purpose", "list the files")],
      ["delegate to nobody: do it", task("nobody", "do it")],
    ],
  ],
  [
    "uses tools it has never seen",
    [
      ["What is the weather in Paris?", ["get_weather", { city: "Paris" }]],
      ["Use get_weather for city New York with unit fahrenheit", ["get_weather", { city: "New York" }]],
      ["call add with a=1 and b=2", ["add", { a: 1, b: 2 }]],
      ["Use the add tool to add 17 and 25.", ["add", { a: 17, b: 25 }]],
      ["add(3, 4)", ["add", { a: 3, b: 4 }]],
      ['call get_weather with city="two words"', ["get_weather", { city: "two words" }]],
      [
        'Call the sendEmail tool with to: bob@example.com, subject: "Hi there" and body: "How are you?"',
        ["sendEmail", { to: "bob@example.com", subject: "Hi there", body: "How are you?" }],
      ],
      [
        'Use send email {"to":"a@b.c","subject":"s","body":"{x}"}',
        ["sendEmail", { to: "a@b.c", subject: "s", body: "{x}" }],
      ],
      ["Use set-volume with level 7 and muted=false", ["set-volume", { level: 7, muted: false }]],
      ["Frobnicate rough 3 times", ["frobnicate", { mode: "rough", times: 3 }]],
      ["please invoke the frobnicate function in gentle mode, two times", ["frobnicate", { mode: "gentle", times: 2 }]],
      ["Use the search tool to look for durable agents", ["search", { query: "durable agents" }]],
      ["Search for TypeScript 7 release notes using search", ["search", { query: "TypeScript 7 release notes" }]],
      ["Use the browser to open https://example.com/a?b=1.", ["browser", { url: "https://example.com/a?b=1" }]],
      ["inspect_package zod", ["inspect_package", { name: "zod" }]],
      ["Use tag_items with tags: red, green and blue", ["tag_items", { tags: ["red", "green", "blue"] }]],
      ["Call ping", ["ping", {}]],
      ["Use the remember_fact tool: the sky is green", ["remember_fact", { fact: "the sky is green" }]],
      ['Use book_table with guest={"name":"Ada"} and seats=4', ["book_table", { guest: { name: "Ada" }, seats: 4 }]],
    ],
  ],
  [
    "does several things in order",
    [
      ["Create a file named a.txt containing hello. Then read it.", write("/a.txt", "hello"), read("/a.txt")],
      ["List the files, then run the command: pwd", ls(), run("pwd")],
      [
        "Create a.txt containing one and then create b.txt containing two",
        write("/a.txt", "one"),
        write("/b.txt", "two"),
      ],
      ["1. List the files\n2. Read a.txt\n3. Use the ping tool", ls(), read("/a.txt"), ["ping", {}]],
      ["Write 'x' to a.txt and read it back", write("/a.txt", "x"), read("/a.txt")],
      ["Call ping; call add with a=1 and b=2; read a.txt", ["ping", {}], ["add", { a: 1, b: 2 }], read("/a.txt")],
      ["Create a file b.txt containing bread and butter", write("/b.txt", "bread and butter")],
      [
        "Edit a.txt: replace foo with bar. After that, delete it.",
        edit("/a.txt", "foo", "bar"),
        ["delete", { file_path: "/a.txt" }],
      ],
      ["Delegate to researcher: find the license. Then list the files.", task("researcher", "find the license"), ls()],
    ],
  ],
];

describe.each(CASES)("the offline model %s", (_, cases) => {
  test.each(cases.map(([sentence, ...expected]) => ({ sentence, expected })))(
    "$sentence",
    async ({ sentence, expected }) => {
      const { calls } = await ask(sentence, { tools });
      expect(calls.map(({ name }) => name)).toEqual(expected.map(([name]) => name));
      for (const [index, [, args]] of expected.entries()) expect(calls[index]?.args).toMatchObject(args);
    },
  );
});
