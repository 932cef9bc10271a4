import { describe, expect, test } from "vitest";
import { ask } from "./ask.ts";
import { FILE_TOOLS } from "./tools.ts";

const text = { type: "string" };
const number = { type: "number" };
const person = { type: "object", properties: { name: text, email: text }, required: ["name"] };
const strings = { type: "array", items: text };
function tool(name: string, properties: object, required: readonly string[]) {
  const parameters = { type: "object", properties, required };
  return { type: "function", function: { name, description: name, parameters } };
}

/** Some of a user's own, as they stand in `.cognition/tools`, and some of an MCP server called "dict". */
const OWN = [
  tool("weather", { city: text, days: { type: "integer" } }, ["city"]),
  tool(
    "create_ticket",
    { title: text, priority: { type: "string", enum: ["low", "high"], default: "low" }, labels: strings },
    ["title"],
  ),
  tool("convert_currency", { amount: number, from: text, to: text }, ["amount", "from", "to"]),
  tool("dict_lookup", { word: text, lang: text }, ["word"]),
  tool("dict_search_issues", { query: text, state: { type: "string", enum: ["open", "closed"] }, limit: number }, [
    "query",
  ]),
  tool("search", { query: text, limit: number }, ["query"]),
  tool("save_artifact", { name: text, content: text }, ["name", "content"]),
  tool("inspect_package", { name: text }, []),
  tool(
    "book_flight",
    {
      from: text,
      to: text,
      date: text,
      passengers: { type: "integer" },
      cabin: { type: "string", enum: ["economy", "business"] },
    },
    ["from", "to", "date"],
  ),
  tool("send_sms", { phone: text, message: text, urgent: { type: "boolean" } }, ["phone", "message"]),
  tool("roll_dice", { sides: { type: "integer", default: 6 }, count: { type: "integer", default: 1 } }, []),
  tool("make_invoice", { customer: person, paid: { type: "boolean" } }, ["customer", "paid"]),
  tool("translate", { text, target_language: text }, ["text", "target_language"]),
  tool("multiply", { x: number, y: number }, ["x", "y"]),
  tool("delete_user", { user_id: text }, ["user_id"]),
  tool("get_user", { user_id: text }, ["user_id"]),
];
const tools = [...FILE_TOOLS, ...OWN];

async function calls(sentence: string, more: readonly object[] = []): Promise<unknown[]> {
  return (await ask(sentence, { tools: [...tools, ...more] })).calls.map(({ name, args }) => [name, args]);
}

describe("a tool of an MCP server may be called without the server's name", () => {
  test.each<[string, unknown[]]>([
    ["Use the lookup tool to look up the word apple", [["dict_lookup", { word: "apple" }]]],
    ["use lookup with word=apple and lang=de", [["dict_lookup", { word: "apple", lang: "de" }]]],
    ["Call lookup for Baum", [["dict_lookup", { word: "Baum" }]]],
    ["Look up Baum with the lookup tool", [["dict_lookup", { word: "Baum" }]]],
    ["Use the search tool to find agents", [["search", { query: "agents" }]]],
    ['Search issues for "timeout" with limit 5', [["dict_search_issues", { query: "timeout", limit: 5 }]]],
    ["Find issues about login", [["dict_search_issues", { query: "login" }]]],
    ["Search the web for issues", [["search", { query: "issues" }]]],
  ])("%s", async (sentence, expected) => expect(await calls(sentence)).toEqual(expected));

  test("where two servers have one of that name, neither is guessed", async () => {
    const both = await ask("Use the lookup tool for Baum", {
      tools: [...tools, tool("law_lookup", { word: text }, [])],
    });
    expect(both.calls).toEqual([]);
    expect(both.text).toContain('I have no tool named "lookup".');
  });

  test("what is used is not always a tool", async () => {
    expect(await calls("Use the file a.txt")).toEqual([]);
  });
});

describe("what a tool is for, in the words of its name", () => {
  test.each<[string, unknown[]]>([
    ['Create a ticket titled "Login broken"', [["create_ticket", { title: "Login broken" }]]],
    [
      'Create a ticket titled "Login broken" with high priority',
      [["create_ticket", { title: "Login broken", priority: "high" }]],
    ],
    [
      "Open a ticket called Login broken, priority high",
      [["create_ticket", { title: "Login broken", priority: "high" }]],
    ],
    ["Please make a new ticket: the door is stuck", [["create_ticket", { title: "the door is stuck" }]]],
    ["Create ticket.txt containing hello", [["write_file", { file_path: "/ticket.txt", content: "hello" }]]],
    ["Create a file called ticket with the text hello", [["write_file", { file_path: "/ticket", content: "hello" }]]],
    ["Convert 100 USD to EUR", [["convert_currency", { amount: 100, from: "USD", to: "EUR" }]]],
    ["Please convert 12.5 GBP into JPY", [["convert_currency", { amount: 12.5, from: "GBP", to: "JPY" }]]],
    ["How do I convert 100 USD to EUR?", []],
    ["Save the day", []],
    ["weather Tokyo 3 days", [["weather", { city: "Tokyo", days: 3 }]]],
    ["Get me the weather for Paris for 5 days", [["weather", { city: "Paris", days: 5 }]]],
    ["What's the weather like in São Paulo?", [["weather", { city: "São Paulo" }]]],
  ])("%s", async (sentence, expected) => expect(await calls(sentence)).toEqual(expected));
});

describe("a tool is not called with what nobody said", () => {
  test.each([
    ["book_flight Berlin Rome tomorrow", "book_flight needs to and date."],
    ["Make an invoice for Ada", "make_invoice needs customer and paid."],
    ["Use multiply with 6", "multiply needs y."],
    ["Use book_flight", "book_flight needs from and to and date."],
    [
      "What arguments does book_flight take?",
      "It takes from (string), to (string), date (string), passengers (integer, may be left out)",
    ],
    ["How do I use roll_dice?", "It takes sides (integer, may be left out), count"],
    ["Use tool zorp", 'I have no tool named "zorp".'],
    ['The user said "delete a.txt"', "offline model"],
    ["My user wants more", "offline model"],
    ["Has a user deleted this?", "offline model"],
  ])("%s", async (sentence, answer) => {
    const asked = await ask(sentence, { tools });
    expect(asked.calls).toEqual([]);
    expect(asked.text).toContain(answer);
  });
});

describe("all that is said of a call is in it", () => {
  const flight = { from: "New York", to: "Los Angeles", date: "2026-12-24", passengers: 2, cabin: "business" };
  test.each<[string, unknown[]]>([
    [
      "Use book_flight to fly from New York to Los Angeles on 2026-12-24 for two passengers in business",
      [["book_flight", flight]],
    ],
    [
      'Send an SMS to +49 170 1234567 saying "I\'m late"',
      [["send_sms", { phone: "+49 170 1234567", message: "I'm late" }]],
    ],
    [
      "use the send sms tool: phone=0170, message=hi there, see you, urgent=false",
      [["send_sms", { phone: "0170", message: "hi there, see you", urgent: false }]],
    ],
    ["Roll 3 dice with 20 sides", [["roll_dice", { sides: 20, count: 3 }]]],
    ["Use roll_dice: two dice with 12 sides each", [["roll_dice", { sides: 12, count: 2 }]]],
    ['Translate "good morning" to French', [["translate", { text: "good morning", target_language: "French" }]]],
    ["What is 6 multiplied by 7 using the multiply tool?", [["multiply", { x: 6, y: 7 }]]],
    ["Use multiply with x=-2.5 and y=1e3", [["multiply", { x: -2.5, y: 1000 }]]],
    [
      'Use make_invoice with customer={"name":"Ada"} and paid=true',
      [["make_invoice", { customer: { name: "Ada" }, paid: true }]],
    ],
    ["Delete user 42", [["delete_user", { user_id: "42" }]]],
  ])("%s", async (sentence, expected) => expect(await calls(sentence)).toEqual(expected));
});

describe("a tool is called as often as was said", () => {
  const weather = (city: string) => ["weather", { city }];
  test.each<[string, unknown[]]>([
    ["Use weather for Rome, Paris and Oslo", [weather("Rome"), weather("Paris"), weather("Oslo")]],
    ["Get the weather for Rome and for New York", [weather("Rome"), weather("New York")]],
    ["Use weather with city Rome, Paris, and Oslo", [weather("Rome"), weather("Paris"), weather("Oslo")]],
    ['Use weather for "Trinidad and Tobago"', [weather("Trinidad and Tobago")]],
    ["Use weather for Paris, France", [weather("Paris, France")]],
    ["Use the search tool to find bread and butter", [["search", { query: "bread and butter" }]]],
    [
      "Use roll_dice twice",
      [
        ["roll_dice", {}],
        ["roll_dice", {}],
      ],
    ],
    [
      "Use both roll_dice and get_user with user_id 7",
      [
        ["roll_dice", {}],
        ["get_user", { user_id: "7" }],
      ],
    ],
    [
      "Use ls on docs and on src",
      [
        ["ls", { path: "/docs" }],
        ["ls", { path: "/src" }],
      ],
    ],
  ])("%s", async (sentence, expected) => expect(await calls(sentence)).toEqual(expected));
});
