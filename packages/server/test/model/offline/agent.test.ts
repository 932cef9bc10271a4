import { mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import type { BaseMessage } from "@langchain/core/messages";
import { AIMessage, ToolMessage } from "@langchain/core/messages";
import { tool } from "@langchain/core/tools";
import { createDeepAgent, FilesystemBackend } from "deepagents";
import { type AgentMiddleware, createAgent, todoListMiddleware, toolStrategy } from "langchain";
import { afterEach, beforeEach, describe, expect, test } from "vitest";
import { z } from "zod";
import { createTempDir, type TempDir } from "../../../../../testing/temp-dir.ts";
import { OfflineModel } from "../../../src/model/offline/offline-model.ts";
import { usageOf } from "../../../src/model/usage.ts";

let folder: TempDir;
let root: string;
afterEach(() => folder.remove());
beforeEach(() => {
  folder = createTempDir();
  root = folder.path;
  writeFileSync(join(root, "a.txt"), "alpha TODO\nbeta\n");
  mkdirSync(join(root, "skills", "greeting"), { recursive: true });
  writeFileSync(
    join(root, "skills", "greeting", "SKILL.md"),
    "---\nname: greeting\ndescription: How to greet people in the house style\n---\n\n1. Create a file named hello.txt containing hello from the skill\n",
  );
});

function agent(systemPrompt = "You are helpful.") {
  return createDeepAgent({
    model: new OfflineModel(),
    systemPrompt,
    backend: new FilesystemBackend({ rootDir: root, virtualMode: true }),
    // Its declared type misses `undefined` in optional members, which our stricter setting minds.
    middleware: [todoListMiddleware() as unknown as AgentMiddleware],
    skills: ["/skills/"],
    subagents: [{ name: "researcher", description: "Finds things", systemPrompt: "Start every reply with FOUND." }],
  });
}

async function work(
  request: string,
  systemPrompt?: string,
): Promise<{ messages: BaseMessage[]; text: string; state: Record<string, unknown> }> {
  const state = await agent(systemPrompt).invoke({ messages: [{ role: "user", content: request }] });
  const messages = state.messages as BaseMessage[];
  return { messages, text: messages.at(-1)?.text ?? "", state: state as Record<string, unknown> };
}

const toolsOf = (messages: readonly BaseMessage[]) =>
  messages.filter((message) => ToolMessage.isInstance(message)).map(({ name }) => name);
const file = (name: string) => readFileSync(join(root, name), "utf8");

describe("in a real deep agent, the offline model", () => {
  test("lists the files that are there", async () => {
    expect((await work("List the files in this directory.")).text).toContain("/a.txt");
  });

  test("creates the file, exactly", async () => {
    await work("Create a file named notes.txt containing exactly the word hello");
    expect(file("notes.txt")).toBe("hello");
  });

  test("finds, edits and reads, one after the other", async () => {
    const { messages, text } = await work(
      "Use the grep tool to find TODO. Then edit a.txt: replace alpha with omega. Then read it.",
    );
    expect(toolsOf(messages)).toEqual(["grep", "edit_file", "read_file"]);
    expect(file("a.txt")).toBe("omega TODO\nbeta\n");
    expect(text).toContain("omega TODO");
  });

  test("plans and works the plan off", async () => {
    const { state, messages } = await work("Make a todo list with three steps and work it off");
    expect(toolsOf(messages)).toEqual(["write_todos", "write_todos", "write_todos", "write_todos"]);
    expect(state["todos"]).toMatchObject([{ status: "completed" }, { status: "completed" }, { status: "completed" }]);
  });

  test("delegates to the subagent by its name, and passes on what it said", async () => {
    const { messages, text } = await work("Delegate to researcher: list the files");
    const call = messages.flatMap((message) => (AIMessage.isInstance(message) ? (message.tool_calls ?? []) : []))[0];
    expect(call).toMatchObject({ name: "task", args: { subagent_type: "researcher", description: "list the files" } });
    expect(text).toMatch(/FOUND[\s\S]*a\.txt/);
  });

  test("reads the skill that fits and follows it", async () => {
    const { messages } = await work("Please greet people the house way with your greeting skill");
    expect(toolsOf(messages)).toEqual(["read_file", "write_file"]);
    expect(file("hello.txt")).toBe("hello from the skill");
  });

  test("tells of a tool that failed", async () => {
    expect((await work("Read the file missing.txt")).text).toMatch(/missing\.txt.*(failed|not found)/is);
  });

  test("obeys the system prompt and names its skills", async () => {
    expect((await work("What skills do you have?", "Start every reply with AHOY.")).text).toMatch(/^AHOY .*greeting/);
  });

  test("streams word by word, costs nothing, and says who it is", async () => {
    const tokens: string[] = [];
    for await (const [chunk] of await agent().stream(
      { messages: [{ role: "user", content: "Count to 5" }] },
      { streamMode: "messages" },
    )) {
      if (chunk.text) tokens.push(chunk.text);
    }
    expect(tokens).toEqual(["1 ", "2 ", "3 ", "4 ", "5"]);
    const { messages } = await work("Count to 5");
    const last = messages.at(-1);
    expect(last && usageOf(last)).toMatchObject({
      provider: "offline",
      model: "offline",
      output_tokens: 5,
      estimated_cost: 0,
      estimated: false,
    });
  });

  test("gives the same calls, ids and words each time", async () => {
    const once = () =>
      new OfflineModel()
        .bindTools([{ type: "function", function: { name: "ping", parameters: { type: "object", properties: {} } } }])
        .invoke("Call ping");
    const [a, b] = [await once(), await once()];
    expect(a.tool_calls).toEqual(b.tool_calls);
    expect(a.tool_calls?.[0]?.id).toMatch(/^call_[0-9a-f]{24}$/);
  });
});

describe("asked to add to a file, the offline model keeps what is there", () => {
  const added = async (before: string | undefined, request: string) => {
    if (before !== undefined) writeFileSync(join(root, "notes.txt"), before);
    const { text } = await work(request);
    return { notes: file("notes.txt"), text };
  };

  test.each([
    ["add the line 'x' to notes.txt", "hello\nworld\nx"],
    ['Add "buy milk" to notes.txt', "hello\nworld\nbuy milk"],
    ["put a line saying bye at the end of notes.txt", "hello\nworld\nbye"],
    ["append a line to notes.txt saying three", "hello\nworld\nthree"],
    ["Add the following to notes.txt:\n- one\n- two", "hello\nworld\n- one\n- two"],
    ["In notes.txt, add a line saying bye", "hello\nworld\nbye"],
    ["open notes.txt and add bye at the end", "hello\nworld\nbye"],
    ["write another line 'bye' to notes.txt", "hello\nworld\nbye"],
    ['insert "zero" at the top of notes.txt', "zero\nhello\nworld"],
    ["insert 'mid' after hello in notes.txt", "hello\nmid\nworld"],
    ["insert 'mid' before the line world in notes.txt", "hello\nmid\nworld"],
    ["remove the line hello from notes.txt", "world"],
    ["remove 'lo' from notes.txt", "hel\nworld"],
    ["delete line 2 of notes.txt", "hello"],
    ["delete the first line of notes.txt", "world"],
    ["remove the last line from notes.txt", "hello"],
    ["delete the paragraph about cats in notes.txt", "hello\nworld"],
    ["make a copy of notes.txt called backup.txt", "hello\nworld"],
    ["write notes.txt", "hello\nworld"],
    ["touch notes.txt", "hello\nworld"],
    ["create notes.txt containing x if it doesn't exist", "hello\nworld"],
    ["add a line to notes.txt", "hello\nworld"],
    ["Add 'see you at the end of the day' to notes.txt", "hello\nworld\nsee you at the end of the day"],
    ["Add meet me after lunch to notes.txt", "hello\nworld\nmeet me after lunch"],
    ["Create notes.txt containing start at the beginning", "start at the beginning"],
    ["Write clear words to notes.txt", "clear words"],
    ["read the empty notes.txt", "hello\nworld"],
  ])("%s", async (request, after) => expect((await added("hello\nworld", request)).notes).toBe(after));

  test.each([
    ["hello\n", "hello\nx\n"],
    ["a\na\na\n", "a\na\na\nx\n"],
    ["banana\na", "banana\na\nx"],
    ["a\n\n\n", "a\n\n\nx\n"],
    ["", "x"],
    [undefined, "x"],
    [Array.from({ length: 300 }, (_, at) => at % 7).join("\n"), /\n5\nx$/],
  ])("whatever it holds: %j", async (before, after) => {
    const { notes } = await added(before, "add the line x to notes.txt");
    if (after instanceof RegExp) expect(notes).toMatch(after);
    else expect(notes).toBe(after);
  });

  test("and makes a file that is not there with no more than was asked for", async () => {
    expect((await added(undefined, "create notes.txt containing x if it doesn't exist")).notes).toBe("x");
  });

  test("and leaves a file that it can't see the whole of, and says so", async () => {
    const long = "x".repeat(200_000);
    const { notes, text } = await added(long, "add the line y to notes.txt");
    expect(notes).toBe(long);
    expect(text).toContain("I left notes.txt as it is");
  });
});

describe("structured output of the offline model", () => {
  const Person = z.object({
    name: z.string(),
    age: z.number().int(),
    role: z.enum(["admin", "guest"]),
    tags: z.array(z.string()),
  });

  test("is filled by the schema, in createAgent", async () => {
    const looked: string[] = [];
    const lookup = tool(
      ({ query }) => {
        looked.push(query);
        return "nothing";
      },
      { name: "lookup", description: "Looks things up", schema: z.object({ query: z.string() }) },
    );
    const made = createAgent({ model: new OfflineModel(), tools: [lookup], responseFormat: toolStrategy(Person) });
    const request = "Use the lookup tool for Ada. Then answer: name is Ada, age is 36, role is admin, tags: red, green";
    const { structuredResponse } = await made.invoke({ messages: [{ role: "user", content: request }] });
    expect(looked).toEqual(["Ada"]);
    expect(structuredResponse).toEqual({ name: "Ada", age: 36, role: "admin", tags: ["red", "green"] });
  });

  test("with withStructuredOutput, from plain words", async () => {
    const shape = z.object({ city: z.string(), count: z.number(), urgent: z.boolean() });
    expect(
      await new OfflineModel().withStructuredOutput(shape).invoke("Send 3 boxes to the city of Paris, urgent"),
    ).toEqual({
      city: "Paris",
      count: 3,
      urgent: true,
    });
  });
});

describe("what a form asks for", () => {
  const City = z.object({ city: z.string(), population: z.number() });
  test.each<[z.ZodType, string, object]>([
    [City, "Tell me about Rome which has 2800000 people", { city: "Rome", population: 2_800_000 }],
    [
      z.object({ name: z.string(), email: z.string() }),
      "Contact Ada Lovelace at ada@x.org",
      { name: "Ada Lovelace", email: "ada@x.org" },
    ],
    [z.object({ answer: z.string() }), "What is 2+2?", { answer: "2+2 = 4" }],
    [z.object({ answer: z.string() }), "answer: no", { answer: "no" }],
    [z.object({ summary: z.string() }), "Rome is old", { summary: "Rome is old" }],
  ])("is a name, an answer or the whole text, as it is called", async (shape, request, expected) => {
    expect(
      await new OfflineModel().withStructuredOutput(shape as z.ZodType<Record<string, unknown>>).invoke(request),
    ).toEqual(expected);
  });
});

describe("an abort of the offline model", () => {
  test("ends a slow answer in its middle", async () => {
    const abort = new AbortController();
    const words: string[] = [];
    const reading = (async () => {
      const stream = await new OfflineModel().stream("Count to 50 slowly", { signal: abort.signal });
      for await (const chunk of stream) {
        words.push(chunk.text);
        if (words.length === 2) abort.abort(new Error("stop"));
      }
    })();
    await expect(reading).rejects.toThrow();
    expect(words).toHaveLength(2);
  });
});
