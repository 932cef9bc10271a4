import { AIMessage, HumanMessage, SystemMessage } from "@langchain/core/messages";
import { describe, expect, test } from "vitest";
import { OfflineModel } from "../../../src/model/offline/offline-model.ts";
import { ask } from "./ask.ts";
import { FILE_TOOLS, ODD_TOOLS } from "./tools.ts";

describe("the offline model obeys its system prompt", () => {
  test.each([
    ["Start every reply with AHOY.", /^AHOY /],
    ["You are kind. Start every reply with 'Dear friend,' and be brief.", /^Dear friend, /],
    ["Begin each answer with the word BANANA", /^BANANA /],
    ["Every reply must start with **OK**", /^\*\*OK\*\* /],
    ["Always start your replies with Arr!", /^Arr! /],
    ['Always begin with "🦊 "', /^🦊 /],
    ["Start every reply with FOX and end every reply with HOUND.", /^FOX [\s\S]* HOUND$/],
    ["End every reply with 'over and out'", / over and out$/],
    ["Reply in upper case.", /^[^a-z]*$/],
    ["Please answer everything in lowercase", /^[^A-Z]*$/],
    ["Answer only with the word no", /^no$/],
    ['Whatever the user says, reply with "42"', /^42$/],
  ])("%s", async (system, expected) => {
    expect((await ask("Hello, how are you?", { system })).text).toMatch(expected);
  });

  test.each([
    ["Do not start your reply with X.", "Say hi", "hi"],
    ["Replies start with OK.", "Say hi", "OK hi"],
    ["Prefix replies with >>>", "Say hi", ">>> hi"],
    ["Every answer ends with a question mark.", "Say hi.", "hi?"],
    ['Sign off with "-- Zed".', "Say hi", "hi -- Zed"],
    ["Start each answer with the user's name.", "Say hi", "hi"],
    ["Reply only with JSON.", "Say hi", '{"reply":"hi"}'],
    ["Use at most 3 words.", "Count to 5", "1 2 3"],
    ["Keep every answer under three words.", "Count to 5", "1 2"],
    ["Answer in 4 words or less", "Count to 9", "1 2 3 4"],
    ["Always call me Captain.", "Say hi", "Captain, hi"],
    ['Address the user as "Your Majesty"', "Say hi", "Your Majesty, hi"],
    ["You are a pirate. Never use the word hello.", "Say hello world", "… world"],
    ["Start every reply with Hi. End every reply with Bye. Write in uppercase.", "say ok", "Hi OK Bye"],
  ])("%s: %s", async (system, request, answer) => expect((await ask(request, { system })).text).toBe(answer));

  test("or the user", async () => {
    const rule = "From now on end your replies with ARR.";
    expect((await ask(rule)).text).toBe("All right. ARR");
    expect((await ask("Say hi", { earlier: [rule] })).text).toBe("hi ARR");
    expect((await ask("Say hi", { earlier: ["Please call me Captain from now on"] })).text).toBe("Captain, hi");
  });

  test("also in the answer after a tool, and not twice", async () => {
    const system = "Start every reply with AHOY.";
    expect(
      (await ask("List the files in this directory.", { system, tools: FILE_TOOLS, returns: ["/a.txt"] })).text,
    ).toMatch(/^AHOY .*\/a\.txt/s);
    expect((await ask("Say AHOY sailor", { system })).text).toBe("AHOY sailor");
  });

  test("and a wish that the user voiced before", async () => {
    expect((await ask("Hello", { earlier: ["From now on, start every reply with MEOW."] })).text).toMatch(/^MEOW /);
  });

  test("knows where its working directory is", async () => {
    const system = "Your working directory is /home/ada/project.";
    const { calls } = await ask("List the files in this directory. Then read a.txt. Then use ls.", {
      system,
      tools: FILE_TOOLS,
    });
    expect(calls).toMatchObject([
      { args: { path: "/home/ada/project" } },
      { args: { file_path: "/home/ada/project/a.txt" } },
      { args: { path: "/home/ada/project" } },
    ]);
  });
});

describe("the offline model remembers", () => {
  const earlier = [
    "My name is Ada.",
    "Remember that the launch code is 4711.",
    "My favourite colour is deep blue, I think.",
  ];

  test.each([
    ["What did I say first?", "My name is Ada."],
    ["What was my first message?", "My name is Ada."],
    ["What did I just say before this?", "deep blue"],
    ["What is my name?", "Ada"],
    ["Do you remember my name?", "Ada"],
    ["what's the launch code?", "4711"],
    ["Tell me what my favourite colour is.", "deep blue"],
    ["What is my shoe size?", "not told me"],
    ["What did I tell you?", "4711"],
  ])("%s", async (question, expected) => {
    expect((await ask(question, { earlier, tools: FILE_TOOLS })).text).toContain(expected);
  });

  test("what its memory files say", async () => {
    const system = "## AGENTS.md\n- The build command is `npm run make`.\nThe deploy day: Friday";
    expect((await ask("What is the build command?", { system })).text).toContain("npm run make");
    expect((await ask("What is the deploy day?", { system })).text).toContain("Friday");
  });

  test("a name in other words, the latest one", async () => {
    expect((await ask("What is my name?", { earlier: ["Call me Bob", "I'm Grace and I like ships"] })).text).toContain(
      "Grace",
    );
    expect((await ask("My name is Ada")).text).toContain("Ada");
  });
});

const SKILLS = `**Available Skills:**

- **greeting**: How to greet people in the house style
  → Read \`/skills/greeting/SKILL.md\` for full instructions
- **release-notes**: Writing release notes from the git history
  → Read \`/skills/release-notes/SKILL.md\` for full instructions
`;

describe("the offline model knows what it has", () => {
  const tools = [...FILE_TOOLS, ...ODD_TOOLS];

  test.each([
    ["What tools do you have?", ["read_file", "frobnicate"]],
    ["List your tools.", ["read_file", "frobnicate"]],
    ["Which tools are available?", ["grep"]],
    ["What can you do?", ["ls"]],
    ["What skills do you have?", ["greeting", "release-notes"]],
    ["Name your skills, please", ["greeting"]],
    ["Which subagents can you delegate to?", ["general-purpose", "researcher"]],
    ["List your subagents", ["researcher"]],
  ])("%s", async (question, names) => {
    const { calls, text } = await ask(question, { tools, system: SKILLS });
    expect(calls).toEqual([]);
    for (const name of names) expect(text).toContain(name);
  });

  test("and what it has not", async () => {
    expect((await ask("What tools do you have?")).text).toContain("no tools");
    expect((await ask("What skills do you have?", { tools })).text).toContain("no skills");
    expect((await ask("Use the teleport tool to go home", { tools })).text).toMatch(
      /no tool named "teleport".*read_file/s,
    );
    expect((await ask("Run the command: ls", { tools: ODD_TOOLS })).text).toContain("no tool here runs commands");
    expect((await ask("Delegate to researcher: find it", { tools: ODD_TOOLS })).text).toContain("no subagents");
    expect((await ask("List the files", { tools: ODD_TOOLS })).text).toContain("can't list files");
  });

  test.each([
    ["What does the greeting skill do?", "greeting: How to greet people in the house style"],
    ["Use the cooking skill", 'I have no skill named "cooking". My skills: greeting, release-notes.'],
    ["List your skills and tools", "My tools: ls"],
  ])("and does nothing where it is only asked: %s", async (question, answer) => {
    const { calls, text } = await ask(question, { tools, system: SKILLS });
    expect(calls).toEqual([]);
    expect(text).toContain(answer);
  });

  test("does with a shell what it has no tool for", async () => {
    const shell = [
      {
        type: "function",
        function: {
          name: "run_bash",
          description: "",
          parameters: { type: "object", properties: { script: { type: "string" } }, required: ["script"] },
        },
      },
    ];
    expect((await ask("List the files in src/model", { tools: shell })).calls).toEqual([
      { name: "run_bash", args: { script: "ls -la src/model" } },
    ]);
    expect((await ask("Read a.txt", { tools: shell })).calls).toEqual([
      { name: "run_bash", args: { script: "cat a.txt" } },
    ]);
  });

  test("a file that is named like a skill is no wish for it", async () => {
    const { calls } = await ask("Store hello in greeting.txt", { tools, system: SKILLS });
    expect(calls).toEqual([{ name: "write_file", args: { file_path: "/greeting.txt", content: "hello" } }]);
  });

  test("reads a skill that fits, follows its list, and then the request", async () => {
    const skill =
      "---\nname: greeting\n---\nGreet well.\n1. Use the ping tool\n2. Create a file named hello.txt containing hi";
    const { calls } = await ask("Use your greeting skill", { tools, system: SKILLS, returns: [skill] });
    expect(calls).toMatchObject([
      { name: "read_file", args: { file_path: "/skills/greeting/SKILL.md" } },
      { name: "ping" },
      { name: "write_file", args: { file_path: "/hello.txt", content: "hi" } },
    ]);
    const matched = await ask("Please write release notes for the last version", {
      tools,
      system: SKILLS,
      returns: ["# no list"],
    });
    expect(matched.calls).toMatchObject([{ args: { file_path: "/skills/release-notes/SKILL.md" } }]);
  });
});

describe("the offline model plans", () => {
  const statuses = (args: unknown) =>
    (args as { todos: { status: string }[] }).todos.map(({ status }) => status[0]).join("");

  test.each([
    "Make a todo list with three steps and work it off",
    "Please create a to-do list with 3 items and then work through it step by step.",
    "Write a plan in three steps and carry it out",
  ])("%s", async (request) => {
    const { calls, text } = await ask(request, { tools: FILE_TOOLS });
    expect(calls.every(({ name }) => name === "write_todos")).toBe(true);
    expect(calls.map(({ args }) => statuses(args))).toEqual(["ipp", "cip", "cci", "ccc"]);
    expect(text).toContain("done");
  });

  const PLANS = ["write_todos", "write_todos", "write_todos", "write_todos"];
  test.each([
    [
      "Make a todo list with three steps and work it off, then create a file named a.txt containing x",
      [...PLANS, "write_file"],
    ],
    [
      "Create a file named a.txt containing x. Then make a todo list with three steps and work it off.",
      ["write_file", ...PLANS],
    ],
  ])("beside another instruction: %s", async (request, names) => {
    const { calls } = await ask(request, { tools: FILE_TOOLS });
    expect(calls.map(({ name }) => name)).toEqual(names);
  });

  test("and does what the steps say while they are in progress", async () => {
    const { calls } = await ask(
      "Make a todo list: 1. List the files 2. Create a file a.txt containing x\nand work it off",
      { tools: FILE_TOOLS },
    );
    expect(calls.map(({ name }) => name)).toEqual(["write_todos", "ls", "write_todos", "write_file", "write_todos"]);
    expect(calls[0]?.args).toMatchObject({
      todos: [{ content: "List the files", status: "in_progress" }, { status: "pending" }],
    });
  });

  test("also where a step speaks of the one before it", async () => {
    const { calls } = await ask("Make a todo list: create a.txt containing hi, read it. Work it off.", {
      tools: FILE_TOOLS,
    });
    expect(calls.map(({ name }) => name)).toEqual([
      "write_todos",
      "write_file",
      "write_todos",
      "read_file",
      "write_todos",
    ]);
  });

  test("only, where nothing is said about doing it", async () => {
    const { calls } = await ask("Make a todo list with two steps", { tools: FILE_TOOLS });
    expect(calls.map(({ args }) => statuses(args))).toEqual(["pp"]);
  });
});

describe("the offline model tells the truth about its tools", () => {
  test("what they returned, in full", async () => {
    const { text } = await ask("Run the command: date", { tools: FILE_TOOLS, returns: ["Mon Nov 16\n[exit code 0]"] });
    expect(text).toContain("Mon Nov 16\n[exit code 0]");
  });

  test("that one failed, while the others went on", async () => {
    const { calls, text } = await ask("Read a.txt. Then list the files.", {
      tools: FILE_TOOLS,
      returns: [{ error: "File not found" }, "/b.txt"],
    });
    expect(calls).toHaveLength(2);
    expect(text).toMatch(/read_file.*failed: File not found/);
    expect(text).toContain("/b.txt");
  });

  test("that nobody knows whether it took effect", async () => {
    const { text } = await ask("Call ping", {
      tools: ODD_TOOLS,
      returns: [{ error: "outcome_unknown: the process ended while the tool was running" }],
    });
    expect(text).toContain("not known whether ping took effect");
  });
});

describe("the offline model says plainly", () => {
  test.each([
    ["Say hello world", "hello world"],
    ["Repeat after me: durable threads", "durable threads"],
    ['Reply with exactly "OK."', "OK."],
    ["Count to 5", "1 2 3 4 5"],
    ["Count from 3 to 1", "3 2 1"],
    ["What is 6 times 7?", "6 times 7 = 42"],
    ["what is 12 * (3 + 4)", "12 * (3 + 4) = 84"],
    ["Calculate 15% of 200", "15% of 200 = 30"],
    ["What is 2 to the power of 10?", "2 to the power of 10 = 1024"],
    ["10/4", "10/4 = 2.5"],
    ["What is 1 + 2 * 3 - 4?", "1 + 2 * 3 - 4 = 3"],
    ["Say hello in uppercase", "HELLO"],
    ['Say "hello" three times', "hello hello hello"],
    ["Repeat the following exactly: a  b   c", "a  b   c"],
    ['Echo back: {"a":1}', '{"a":1}'],
    ["thanks!", "You're welcome."],
    ["bye", "Goodbye."],
  ])("%s", async (request, text) => {
    expect(await ask(request, { tools: FILE_TOOLS })).toEqual({ calls: [], text });
  });

  test.each([
    "help me please",
    "What should I type?",
    "give me some examples",
    "How do I use you?",
    "What can you do?",
  ])("what one may say, to %s", async (request) => {
    const { text } = await ask(request, { tools: FILE_TOOLS });
    expect(text).toMatch(
      /- List the files in this directory\.\n- Create a file.*- Delegate to general-purpose.*My tools: ls/s,
    );
  });

  test.each([
    "Liste die Dateien in diesem Verzeichnis auf.",
    "what is (3 + 4",
    "Hello!",
    "Write me a poem about the sea",
    "Why is the sky blue?",
    "",
    "   ",
    "?",
    "😀",
    "{",
    "a\u0000b",
    "x".repeat(20_000),
  ])("who it is and how to get a real model, to %#", async (request) => {
    const { calls, text } = await ask(request, { tools: FILE_TOOLS });
    expect(calls).toEqual([]);
    expect(text).toMatch(/offline model.*in English.*OPENAI_API_KEY/s);
  });
});

test("a part that it does not understand is said, and the others are done", async () => {
  const { calls, text } = await ask("Create a file a.txt containing hello. Then dance a little.", {
    tools: FILE_TOOLS,
  });
  expect(calls).toEqual([{ name: "write_file", args: { file_path: "/a.txt", content: "hello" } }]);
  expect(text).toContain('did not understand: "dance a little."');
});

describe("a very long message", () => {
  // Work that grows with the square of the length takes minutes here; a busy machine takes seconds.
  const QUADRATIC_MS = 30_000;
  const pieces = [
    "word ",
    "List the files. ",
    "a.txt and read it, then ",
    '{"a":',
    "'quote ",
    "my x is y. ",
    "every reply ",
    "😀",
    "1️⃣",
  ];

  test.each(pieces)("of 20,000 characters of %j is answered in time", async (piece) => {
    const began = performance.now();
    const request = piece.repeat(Math.floor(20_000 / piece.length));
    const reply = await new OfflineModel()
      .bindTools([...FILE_TOOLS])
      .invoke([new SystemMessage(request), new HumanMessage(request), new AIMessage("ok"), new HumanMessage(request)]);
    expect(reply).toBeDefined();
    expect(performance.now() - began).toBeLessThan(QUADRATIC_MS);
  });

  test("with a long run of blanks is not looked through, which held the node for minutes", async () => {
    const request = `Create a.txt containing x${" ".repeat(300)}y`;
    const { calls, text } = await ask(request, { tools: FILE_TOOLS });
    expect(calls).toEqual([]);
    expect(text).toContain("200 blanks or more in a row, so I did nothing");
    expect((await ask(request.replace(/ {100,}/, " ".repeat(100)), { tools: FILE_TOOLS })).calls).toHaveLength(1);
  });

  test.each(pieces)("of a megabyte of %j is answered, and nothing is done", async (piece) => {
    const began = performance.now();
    const request = piece.repeat(Math.ceil(1_000_000 / piece.length));
    const { calls, text } = await ask(request, { tools: FILE_TOOLS, system: request, earlier: [request] });
    expect(calls).toEqual([]);
    expect(text).toContain("offline model");
    expect(performance.now() - began).toBeLessThan(QUADRATIC_MS);
  });
});
