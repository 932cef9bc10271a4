import { describe, expect, test } from "vitest";
import { ask } from "./ask.ts";
import { FILE_TOOLS } from "./tools.ts";

const text = { type: "string" };
const number = { type: "number" };
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
