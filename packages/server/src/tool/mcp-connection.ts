import { AppError } from "@cognition/contract";
import { Client } from "@modelcontextprotocol/sdk/client/index.js";
import type { StreamableHTTPClientTransport } from "@modelcontextprotocol/sdk/client/streamableHttp.js";
import type { Transport } from "@modelcontextprotocol/sdk/shared/transport.js";
import { type Tool, ToolListChangedNotificationSchema, ToolSchema } from "@modelcontextprotocol/sdk/types.js";
import { z } from "zod";
import { messageOf } from "../file/error-text.ts";
import { VERSION } from "../version.ts";
import { limitText } from "./limit-text.ts";
import { watchedFetch } from "./mcp-answer-end.ts";
import type { McpServerConfig } from "./mcp-config.ts";
import { createStdioTransport, type StdioServer } from "./mcp-stdio.ts";
import { createTail } from "./tail.ts";

/** Servers page their lists; one that never ends must not be followed for ever. */
const MAX_PAGES = 100;
/** Ending a session is a courtesy to the server, which may be gone. */
const GOODBYE_MS = 1000;
const MAX_REASON_BYTES = 2000;
const SDK_WORDS = /^Streamable HTTP error: (Error POSTing to endpoint: )?/;

export interface ListedTools {
  readonly tools: readonly Tool[];
  /** Why each of the others is none. */
  readonly faults: readonly string[];
}

export interface McpConnection {
  readonly client: Client;
  /** False once the process has ended or the connection was closed. */
  isOpen(): boolean;
  /** As the server lists them, asked again after it said that they changed. */
  tools(): Promise<ListedTools>;
  /** The end of what the process wrote to stderr. */
  log(): string;
  /** Why this side ended it, if it did. */
  fault(): string | undefined;
  /** Ends the process and what it started, by force if it does not want to. */
  close(): Promise<void>;
}

/**
 * Connects, or throws `tool_failed` naming the server, with what it said; a process that it started is ended then. So it is
 * when the signal aborts.
 */
export async function openMcpConnection(
  config: McpServerConfig,
  cwd: string,
  signal: AbortSignal,
): Promise<McpConnection> {
  const tail = createTail();
  let fault: string | undefined;
  const onFault = (reason: string) => {
    fault = reason;
  };
  const transport =
    config.url === undefined
      ? stdioTransport(config, cwd, { onLog: tail.write, onFault })
      : await httpTransport(config);
  const client = new Client({ name: "cognition", version: VERSION });
  let open = true;
  let listed: Promise<ListedTools> | undefined;
  client.onclose = () => {
    open = false;
  };
  client.setNotificationHandler(ToolListChangedNotificationSchema, () => {
    listed = undefined;
  });

  async function close(): Promise<void> {
    open = false;
    if ("terminateSession" in transport) await sayGoodbye(transport);
    await client.close();
    await transport.close();
  }

  try {
    // The transport's own type says `sessionId: string | undefined`, the interface `sessionId?: string`.
    const timeout = config.connect_timeout_ms;
    await client.connect(transport as Parameters<Client["connect"]>[0], { timeout, signal });
  } catch (cause) {
    await close();
    throw startFailed(config, cause, tail.text());
  }
  return {
    client,
    isOpen: () => open,
    tools() {
      listed ??= listTools(client, config.connect_timeout_ms).catch((error: unknown) => {
        listed = undefined;
        throw error;
      });
      return listed;
    },
    log: tail.text,
    fault: () => fault,
    close,
  };
}

function stdioTransport(
  { command = "", args = [], env = {}, cwd }: McpServerConfig,
  folder: string,
  told: Pick<StdioServer, "onLog" | "onFault">,
): Transport {
  return createStdioTransport({ command, args, env, cwd: cwd ?? folder, ...told });
}

async function httpTransport({ url = "", headers }: McpServerConfig): Promise<StreamableHTTPClientTransport> {
  // Only for whoever has such a server: it brings a parser of event streams and an OAuth client.
  const { StreamableHTTPClientTransport } = await import("@modelcontextprotocol/sdk/client/streamableHttp.js");
  const given = { fetch: watchedFetch, ...(headers && { requestInit: { headers } }) };
  return new StreamableHTTPClientTransport(new URL(url), given);
}

/** Each tool is looked at by itself: by the SDK's own schema of the list, one odd tool would cost all the others. */
const ToolList = z.looseObject({ tools: z.array(z.unknown()), nextCursor: z.string().optional() });

async function listTools(client: Client, timeout: number): Promise<ListedTools> {
  const tools: Tool[] = [];
  const faults: string[] = [];
  let cursor: string | undefined;
  for (let page = 0; page < MAX_PAGES; page++) {
    const request = { method: "tools/list" as const, ...(cursor !== undefined && { params: { cursor } }) };
    const answer = await client.request(request, ToolList, { timeout });
    for (const entry of answer.tools) {
      const { data, error } = ToolSchema.safeParse(entry);
      if (data) tools.push(data);
      else faults.push(`the tool ${nameOf(entry)} is left out: ${describeIssues(error)}`);
    }
    cursor = answer.nextCursor;
    if (cursor === undefined) return { tools, faults };
  }
  throw new AppError("tool_failed", `lists its tools on more than ${MAX_PAGES} pages`);
}

function nameOf(entry: unknown): string {
  const name = (entry as { name?: unknown } | null)?.name;
  return typeof name === "string" ? name : "without a name";
}

/** What a schema has against a value, in one line. */
export function describeIssues({ issues }: Pick<z.ZodError, "issues">): string {
  return issues.map(({ path, message }) => `${path.map(String).join(".") || "all of it"}: ${message}`).join("; ");
}

/** What an answer of HTTP was refused with. The protocol's own codes are negative. */
export function httpStatus(error: unknown): number | undefined {
  const code = error instanceof Error && "code" in error ? error.code : undefined;
  return typeof code === "number" && code > 0 ? code : undefined;
}

/** Why a request failed. The SDK's own words have the whole page of a gateway in them, and leave out its status. */
export function reasonOf(error: unknown): string {
  const status = httpStatus(error);
  const text = limitText(messageOf(error).replace(SDK_WORDS, ""), MAX_REASON_BYTES);
  return status === undefined ? text : `it answered ${[`HTTP ${status}`, text].filter(Boolean).join(": ")}`;
}

async function sayGoodbye(transport: StreamableHTTPClientTransport): Promise<void> {
  const { promise: enough, resolve } = Promise.withResolvers<void>();
  const timer = setTimeout(resolve, GOODBYE_MS);
  // A server that can't be reached has no session left to end.
  await Promise.race([transport.terminateSession().catch(() => undefined), enough]);
  clearTimeout(timer);
}

function startFailed({ name, command, url }: McpServerConfig, cause: unknown, log: string): AppError {
  const said = log === "" ? "" : `\nIt wrote: ${log}`;
  // The rest of an address often holds a key.
  const where = url === undefined ? command : new URL(url).host;
  const message = `MCP server ${name} (${where}) did not start: ${reasonOf(cause)}${said}`;
  return new AppError("tool_failed", message, { cause, details: { server: name } });
}
