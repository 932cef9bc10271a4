interface ToolLike {
  readonly type: "function";
  readonly function: { readonly name: string; readonly description: string; readonly parameters: object };
}

function tool(name: string, properties: object, required: readonly string[], description = name): ToolLike {
  return { type: "function", function: { name, description, parameters: { type: "object", properties, required } } };
}

const text = { type: "string" };
const path = { type: "string", description: "Absolute path to the file" };

export const FILE_TOOLS = [
  tool("ls", { path: { ...text, default: "/", description: "Directory path to list (default: /)" } }, ["path"]),
  tool(
    "read_file",
    { file_path: path, offset: { type: "number", default: 0 }, limit: { type: "number", default: 100 } },
    ["file_path", "offset", "limit"],
  ),
  tool("write_file", { file_path: path, content: text }, ["file_path", "content"]),
  tool(
    "edit_file",
    { file_path: path, old_string: text, new_string: text, replace_all: { type: "boolean", default: false } },
    ["file_path", "old_string", "new_string", "replace_all"],
  ),
  tool("delete", { file_path: path }, ["file_path"]),
  tool("glob", { pattern: text, path: text }, ["pattern"]),
  tool(
    "grep",
    {
      pattern: text,
      path: { ...text, default: "/" },
      output_mode: { type: "string", enum: ["content", "count"], default: "content" },
    },
    ["pattern", "path", "output_mode"],
  ),
  tool("execute", { command: text }, ["command"]),
  tool(
    "write_todos",
    {
      todos: {
        type: "array",
        items: {
          type: "object",
          properties: { content: text, status: { type: "string", enum: ["pending", "in_progress", "completed"] } },
        },
      },
    },
    ["todos"],
  ),
  tool(
    "task",
    {
      description: text,
      subagent_type: {
        type: "string",
        description: "Name of the agent to use. Available: general-purpose, researcher",
      },
    },
    ["description", "subagent_type"],
  ),
];

/** Names and shapes that the model has never heard of. */
export const ODD_TOOLS = [
  tool("get_weather", { city: text, unit: { type: "string", enum: ["celsius", "fahrenheit"], default: "celsius" } }, [
    "city",
  ]),
  tool("add", { a: { type: "number" }, b: { type: "number" } }, ["a", "b"]),
  tool("sendEmail", { to: text, subject: text, body: text }, ["to", "subject", "body"]),
  tool("set-volume", { level: { type: "integer" }, muted: { type: "boolean" } }, ["level", "muted"]),
  tool("frobnicate", { mode: { type: "string", enum: ["gentle", "rough"] }, times: { type: "integer" } }, [
    "mode",
    "times",
  ]),
  tool("search", { query: text }, ["query"]),
  tool("browser", { url: text, format: { type: "string", enum: ["text", "markdown", "html"], default: "text" } }, [
    "url",
  ]),
  tool("inspect_package", { name: text }, ["name"]),
  tool("tag_items", { tags: { type: "array", items: text } }, ["tags"]),
  tool("ping", {}, []),
  tool("remember_fact", { fact: text }, ["fact"]),
  tool(
    "book_table",
    {
      guest: { type: "object", properties: { name: text, phone: text }, required: ["name"] },
      seats: { type: "integer" },
    },
    ["guest", "seats"],
  ),
];
