import { AIMessage, HumanMessage, ToolMessage } from "@langchain/core/messages";
import { describe, expect, test } from "vitest";
import { OfflineModel } from "../../../src/model/offline/offline-model.ts";
import { ask } from "./ask.ts";
import { FILE_TOOLS } from "./tools.ts";

const run = (command: string) => ["execute", { command }];
const read = (file_path: string) => ["read_file", { file_path }];
const write = (file_path: string, content: string) => ["write_file", { file_path, content }];
const remove = (file_path: string) => ["delete", { file_path }];
const ls = (path = "/") => ["ls", { path }];
const task = (subagent_type: string, description: string) => ["task", { subagent_type, description }];

async function calls(request: string): Promise<unknown[]> {
  return (await ask(request, { tools: FILE_TOOLS })).calls.map(({ name, args }) => [name, args]);
}

describe("each line of a list is a thing to do", () => {
  test.each<[string, unknown[]]>([
    [
      'Create two files:\n- x.txt with content "ex"\n- y.txt with content "why"',
      [write("/x.txt", "ex"), write("/y.txt", "why")],
    ],
    [
      "create the following files:\n1. one.md containing # One\n2. two.md containing # Two",
      [write("/one.md", "# One"), write("/two.md", "# Two")],
    ],
    ["Delete the following files:\na.txt\nb.txt", [remove("/a.txt"), remove("/b.txt")]],
    [
      "1. Create todo.md with these items:\n- a\n- b\n2. read todo.md",
      [write("/todo.md", "- a\n- b"), read("/todo.md")],
    ],
    ["Create todo.md with:\n1. a\n2. b", [write("/todo.md", "1. a\n2. b")]],
    [
      'Create a directory tests/unit and in it a file a.py containing "x = 1"',
      [run("mkdir -p tests/unit"), write("/tests/unit/a.py", "x = 1")],
    ],
    [
      "Delegate two tasks: ask researcher to read a.txt and ask general-purpose to create z.txt containing zed",
      [task("researcher", "read a.txt"), task("general-purpose", "create z.txt containing zed")],
    ],
    ["spawn a subagent that lists the files", [task("general-purpose", "list the files")]],
  ])("%s", async (request, expected) => expect(await calls(request)).toEqual(expected));

  test("and one that is not understood is said to be", async () => {
    const asked = await ask("Please do these things:\n* create a.txt with hi\n* dance\n* list the files", {
      tools: FILE_TOOLS,
    });
    expect(asked.calls.map(({ name }) => name)).toEqual(["write_file", "ls"]);
    expect(asked.text).toContain('I did not understand: "dance"');
  });
});

describe("a todo list", () => {
  const contents = (args: unknown) => (args as { todos: { content: string }[] }).todos.map(({ content }) => content);

  test.each<[string, string[], number]>([
    ["I want a todo list with 2 steps, work through all of them please", ["Step 1", "Step 2"], 3],
    ["Make me a plan with 2 steps: buy milk; call bob. Execute the plan.", ["buy milk", "call bob"], 3],
    ["I need a checklist of 2 items", ["Step 1", "Step 2"], 1],
  ])("%s", async (request, items, count) => {
    const { calls: made } = await ask(request, { tools: FILE_TOOLS });
    expect(made.map(({ args }) => contents(args))).toEqual(Array.from({ length: count }, () => items));
  });

  test("is one of several things to do", async () => {
    const made = await calls("1. list the files\n2. make a todo list with 2 steps");
    expect(made[0]).toEqual(ls());
    expect(contents((made[1] as unknown[])[1])).toEqual(["Step 1", "Step 2"]);
  });

  const before = [
    new HumanMessage("Make a todo list: buy milk, list the files"),
    new AIMessage({
      content: "",
      tool_calls: [
        {
          id: "1",
          name: "write_todos",
          args: {
            todos: [
              { content: "buy milk", status: "completed" },
              { content: "list the files", status: "pending" },
            ],
          },
        },
      ],
    }),
  ];
  const reply = async (request: string, earlier = before) => {
    const result = new ToolMessage({ tool_call_id: "1", content: "ok" });
    const model = new OfflineModel().bindTools([...FILE_TOOLS]);
    return model.invoke([...earlier, ...(earlier.length > 0 ? [result] : []), new HumanMessage(request)]);
  };

  test.each([
    ['Add "call bob" to my todo list', "buy milk:completed list the files:pending call bob:pending"],
    ["mark the second item as done", "buy milk:completed list the files:completed"],
    ["mark list the files as done", "buy milk:completed list the files:completed"],
    ["now work it off", "buy milk:completed list the files:in_progress"],
  ])("that was made before goes on: %s", async (request, expected) => {
    const todos = (await reply(request)).tool_calls?.[0]?.args["todos"] as { content: string; status: string }[];
    expect(todos.map(({ content, status }) => `${content}:${status}`).join(" ")).toBe(expected);
  });

  test("is worked off once, whatever its items say of it", async () => {
    const todos = [{ content: "work through the todo list", status: "pending" }];
    const listed = new AIMessage({ content: "", tool_calls: [{ id: "1", name: "write_todos", args: { todos } }] });
    const { tool_calls } = await reply("do the rest", [new HumanMessage("Make a todo list"), listed]);
    expect(contents(tool_calls?.[0]?.args)).toEqual(["work through the todo list"]);
  });

  test("can be asked for", async () => {
    expect((await reply("what's on my todo list?")).text).toBe("The todo list:\n[x] buy milk\n[ ] list the files");
    expect((await reply("what's on my todo list?", [])).text).toBe("There is no todo list yet.");
  });
});
