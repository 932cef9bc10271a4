import { describe, expect, test } from "vitest";
import { ask } from "./ask.ts";
import { FILE_TOOLS } from "./tools.ts";

const tool = (name: string, properties: object, required: readonly string[]) => ({
  type: "function",
  function: { name, description: name, parameters: { type: "object", properties, required } },
});
const text = { type: "string" };
const whole = { type: "integer" };
const texts = { type: "array", items: text };
const address = { type: "object", properties: { street: text, city: text }, required: ["street", "city"] };
const priority = { type: "string", enum: ["low", "medium", "high"] };
const OWN = [
  tool("weather", { city: text, days: whole, units: { type: "string", enum: ["metric", "imperial"] } }, ["city"]),
  tool("create_ticket", { title: text, priority, labels: texts, assignee: text }, ["title", "priority"]),
  tool("schedule_meeting", { topic: text, date: text, attendees: texts, duration_minutes: whole }, [
    "topic",
    "date",
    "attendees",
    "duration_minutes",
  ]),
  tool("create_user", { name: text, address, active: { type: "boolean" } }, ["name", "address", "active"]),
  tool("query_database", { sql: text, limit: whole }, ["sql"]),
  tool("send_email", { to: text, subject: text, body: text, cc: texts }, ["to", "subject", "body"]),
  tool("remember", { key: text, content: text }, ["key", "content"]),
  tool("save_artifact", { name: text, content: text, artifact_type: { type: "string", enum: ["scratch", "eval"] } }, [
    "name",
    "content",
  ]),
  tool("read_artifact", { name: text }, []),
  tool("github_create_issue", { repo: text, title: text, body: text }, ["repo", "title"]),
  tool("convert_units", { value: { type: "number" }, from: text, to: text }, ["value", "from", "to"]),
];

describe("a tool is told what was said, each value under its name", () => {
  test.each<[string, string, object]>([
    [
      "weather in Paris for the next 3 days please, imperial units",
      "weather",
      { city: "Paris", days: 3, units: "imperial" },
    ],
    ["What will the weather be like in New York tomorrow?", "weather", { city: "New York" }],
    [
      'open a high priority ticket titled "Login broken" with labels bug, auth and assign it to bob',
      "create_ticket",
      { title: "Login broken", priority: "high", labels: ["bug", "auth"] },
    ],
    [
      "create a low priority ticket: Printer is out of paper",
      "create_ticket",
      { title: "Printer is out of paper", priority: "low" },
    ],
    [
      'schedule a 30 minute meeting about "budget" on 2026-12-01 with ann@x.org and bob@x.org',
      "schedule_meeting",
      { topic: "budget", date: "2026-12-01", attendees: ["ann@x.org", "bob@x.org"], duration_minutes: 30 },
    ],
    [
      'create a user named Ada Lovelace, address street "1 Main St", city London, active',
      "create_user",
      { name: "Ada Lovelace", address: { street: "1 Main St", city: "London" }, active: true },
    ],
    [
      "query the database: SELECT * FROM users WHERE id = 1",
      "query_database",
      { sql: "SELECT * FROM users WHERE id = 1" },
    ],
    [
      "Send an e-mail to ann@x.org, cc bob@x.org, subject: Hello, body: See you at 5",
      "send_email",
      { to: "ann@x.org", subject: "Hello", body: "See you at 5", cc: ["bob@x.org"] },
    ],
    ["remember: key=tea value=green", "remember", { key: "tea", content: "green" }],
    ["store in memory that my dog is called Rex", "remember", { key: "my-dog", content: "my dog is called Rex" }],
    [
      "create an artifact named report with type scratch and content hello",
      "save_artifact",
      { name: "report", content: "hello", artifact_type: "scratch" },
    ],
    [
      'create an issue in octo/repo titled "Bug" with body "It fails"',
      "github_create_issue",
      { repo: "octo/repo", title: "Bug", body: "It fails" },
    ],
    ["convert 72 fahrenheit to celsius please", "convert_units", { value: 72, from: "fahrenheit", to: "celsius" }],
  ])("%s", async (request, name, args) => {
    expect((await ask(request, { tools: [...FILE_TOOLS, ...OWN] })).calls).toEqual([{ name, args }]);
  });

  test("a file that is kept as something else is kept with what it holds", async () => {
    const asked = await ask("save the file README.md as an artifact", {
      tools: [...FILE_TOOLS, ...OWN],
      returns: ["# Project"],
    });
    expect(asked.calls.at(-1)).toEqual({ name: "save_artifact", args: { name: "README.md", content: "# Project" } });
  });
});
