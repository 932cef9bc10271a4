import { createHash } from "node:crypto";
import { ERROR_CODES } from "@cognition/contract";
import { DOCS_SCRIPT } from "./docs-script.ts";
import { DOCS_STYLE } from "./docs-style.ts";

interface Parameter {
  name: string;
  in: string;
  required: boolean;
  description?: string;
}

interface Operation {
  operationId: string;
  summary: string;
  tags: string[];
  parameters?: Parameter[];
  requestBody?: { content: Record<string, { schema: unknown }> };
  responses: Record<string, { description: string; content?: Record<string, { schema: unknown }> }>;
}

interface Document {
  info: { title: string; version: string; description: string };
  paths: Record<string, Record<string, Operation>>;
  components: { schemas: Record<string, unknown> };
}

/** The page needs nothing from anywhere: its only script and style are in it, and the policy names them by their hash. */
export const DOCS_POLICY = [
  "default-src 'none'",
  `script-src ${hashOf(DOCS_SCRIPT)}`,
  `style-src ${hashOf(DOCS_STYLE)}`,
  "connect-src 'self'",
  "base-uri 'none'",
  "form-action 'none'",
  "frame-ancestors 'none'",
].join("; ");

function hashOf(text: string): string {
  return `'sha256-${createHash("sha256").update(text).digest("base64")}'`;
}

/** Every operation with its schemas, a form to try it, and every error code under its own name. */
export function docsPage(document: object): string {
  const { info, paths, components } = document as Document;
  const operations = Object.entries(paths).flatMap(([path, methods]) =>
    Object.entries(methods).map(([method, operation]) => ({ path, method: method.toUpperCase(), operation })),
  );
  const tags = [...new Set(operations.map(({ operation }) => operation.tags[0] ?? ""))];
  const groups = tags.map((tag) => {
    const own = operations.filter(({ operation }) => operation.tags[0] === tag);
    return `<h2>${html(tag)}</h2>${own.map(renderOperation).join("")}`;
  });
  const schemas = Object.entries(components.schemas).map(
    ([name, schema]) => `<details id="schema-${html(name)}"><summary>${html(name)}</summary>${json(schema)}</details>`,
  );
  return `<!doctype html><html lang="en"><head><meta charset="utf-8"><title>${html(info.title)} API</title>
<meta name="viewport" content="width=device-width"><style>${DOCS_STYLE}</style></head><body>
<h1>${html(info.title)} API <small>${html(info.version)}</small></h1><p>${prose(info.description)}</p>
<p><a href="openapi.json">openapi.json</a></p>
<label>Headers of every request, one a line <textarea id="headers" rows="2" placeholder="Authorization: Bearer …"></textarea></label>
${groups.join("")}<h2>Errors</h2>${renderErrors()}<h2>Schemas</h2>${schemas.join("")}
<script>${DOCS_SCRIPT}</script></body></html>`;
}

function renderOperation({ path, method, operation }: { path: string; method: string; operation: Operation }): string {
  const { operationId, summary, parameters = [], requestBody, responses } = operation;
  const fields = parameters.map(renderField).join("");
  const body = requestBody ? `<label>Body ${types(requestBody.content)}<textarea rows="4">{}</textarea></label>` : "";
  const answers = Object.entries(responses).map(
    ([status, { description, content = {} }]) => `<li>${html(status)}: ${prose(description)} ${types(content)}</li>`,
  );
  return `<details id="${html(operationId)}"><summary><b>${method}</b> <code>${html(path)}</code> ${prose(summary)}</summary>
<ul>${answers.join("")}</ul><form data-path="${html(path)}" data-method="${method}">${fields}${body}<button>Send</button><output></output></form></details>`;
}

function renderField({ name, in: where, required, description = "" }: Parameter): string {
  const text = `${html(name)} <small>${html(where)} ${prose(description)}</small>`;
  return `<label>${text}<input name="${html(name)}" data-in="${html(where)}"${required ? " required" : ""}></label>`;
}

/** What stands in backticks is code. */
function prose(text: string): string {
  return html(text).replaceAll(/`([^`]+)`/g, "<code>$1</code>");
}

/** A named schema as a link to it. */
function types(content: Record<string, { schema: unknown }>): string {
  return Object.entries(content)
    .map(([type, { schema }]) => {
      const name = (schema as { $ref?: string }).$ref?.split("/").at(-1);
      return `<code>${html(type)}</code> ${name ? `<a href="#schema-${html(name)}">${html(name)}</a>` : ""}`;
    })
    .join(", ");
}

function renderErrors(): string {
  const rows = ERROR_CODES.map(
    ({ code, status, title }) =>
      `<tr id="${code}"><td><code>${code}</code></td><td>${status}</td><td>${html(title)}</td></tr>`,
  );
  return `<table><tr><th>code</th><th>status</th><th>means</th></tr>${rows.join("")}</table>`;
}

function json(value: unknown): string {
  return `<pre>${html(JSON.stringify(value, null, 2))}</pre>`;
}

function html(text: string): string {
  return text.replaceAll(/[&<>"']/g, (char) => `&#${char.charCodeAt(0)};`);
}
