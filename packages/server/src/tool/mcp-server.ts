import { createHash } from "node:crypto";
import { AppError, isAppError } from "@cognition/contract";
import { type CallToolResult, ErrorCode, McpError, type Tool } from "@modelcontextprotocol/sdk/types.js";
import { answerWithin } from "../answer-within.ts";
import { hasCode } from "../file/error-text.ts";
import { unlessAborted } from "../run/unless-aborted.ts";
import { BrokenOff, untilAnswerEnds } from "./mcp-answer-end.ts";
import type { McpServerConfig } from "./mcp-config.ts";
import { describeIssues, httpStatus, type ListedTools, type McpConnection, reasonOf } from "./mcp-connection.ts";
import { createMcpConnector } from "./mcp-connector.ts";
import { toToolOutput } from "./mcp-result.ts";
import type { OnCrash, RegisteredTool, ToolContext, ToolEffect, ToolOutput } from "./tool.ts";
import { toolParameters } from "./tool-schema.ts";

const MAX_NAME = 64;
/** A server that can't be started is not tried again at each run, each of which would wait for it. */
const RETRY_AFTER_MS = 30_000;
/** How long a run waits for one that failed before and is tried again; it goes on without, and the next may have it. */
const PATIENCE_MS = 1_000;

export interface McpServer {
  readonly name: string;
  /** Its tools by our names. Connects if need be; throws `tool_failed` naming the server. */
  tools(): Promise<RegisteredTool[]>;
  /** As last listed, without asking; undefined if it was never asked or is gone. */
  known(): RegisteredTool[] | undefined;
  /** Why it could not be reached when it was last tried, and which of its tools can't be used. */
  problems(): AppError[];
  close(): Promise<void>;
}

export interface McpServerOptions {
  cwd: string;
  /** Milliseconds that only go forward. */
  now: () => number;
}

/** One configured server: connected at first use, and again when the connection was lost. */
export function createMcpServer(config: McpServerConfig, { cwd, now }: McpServerOptions): McpServer {
  const { connect, drop, isOpen, close } = createMcpConnector(config, cwd);
  let known: RegisteredTool[] | undefined;
  let failure: { error: AppError; at: number } | undefined;
  let listed: ListedTools | undefined;
  let unusable: AppError[] = [];
  let asking: Promise<RegisteredTool[]> | undefined;

  /** Sends the call once. What the server calls an error is thrown. */
  async function attempt(sending: Sending): Promise<ToolOutput | Failed> {
    const open = await unlessAborted(sending.context.signal, connect()); // nothing is sent before
    try {
      return toToolOutput(sending.tool.name, await send(open, config, sending));
    } catch (error) {
      sending.context.signal.throwIfAborted();
      if (isAppError(error)) throw error;
      const failed = readFailure(config, sending, open, error);
      if (failed.gone) await drop(open);
      return failed;
    }
  }

  async function call(tool: Tool, on_crash: OnCrash, args: unknown, context: ToolContext): Promise<ToolOutput> {
    const sending = { tool, on_crash, args, context };
    const first = await attempt(sending);
    const last = "failure" in first && first.repeatable ? await attempt(sending) : first;
    if ("failure" in last) throw last.failure;
    return last;
  }

  async function ask(): Promise<ListedTools> {
    const open = await connect();
    try {
      return await open.tools();
    } catch (error) {
      if (!isUnsent(error)) throw error;
      await drop(open);
      return (await connect()).tools();
    }
  }

  async function list(): Promise<RegisteredTool[]> {
    const all = await ask();
    // The same objects for the same answer: whoever built something from them can see that nothing changed.
    if (known && all === listed) return known;
    listed = all;
    const { tools, faults } = usableTools(config, all, call);
    unusable = faults;
    return tools;
  }

  async function refresh(): Promise<RegisteredTool[]> {
    try {
      known = await list();
      failure = undefined;
      return known;
    } catch (cause) {
      const error = isAppError(cause) ? cause : listFailed(config, cause);
      failure = { error, at: now() };
      throw error;
    } finally {
      asking = undefined;
    }
  }

  return {
    name: config.name,
    async tools() {
      if (failure && !asking && now() - failure.at < RETRY_AFTER_MS) throw failure.error;
      asking ??= refresh();
      if (!failure) return asking;
      const { error } = failure;
      return answerWithin(PATIENCE_MS, asking, () => {
        throw error;
      });
    },
    known: () => (isOpen() ? known : undefined),
    problems: () => (failure ? [failure.error] : unusable),
    close,
  };
}

/** The tools of a list that are allowed and can be used, and why the others can't. */
function usableTools(config: McpServerConfig, listed: ListedTools, call: Call) {
  const allowed = config.tools && new Set(config.tools);
  const registered = listed.tools
    .filter(({ name }) => !allowed || allowed.has(name))
    .map((tool) => register(config, tool, call));
  const checked = registered.map((tool) => ({ tool, error: schemaFault(tool) }));
  const unreadable = listed.faults.map((fault) => new AppError("tool_failed", `MCP server ${config.name}: ${fault}`));
  return {
    tools: checked.flatMap(({ tool, error }) => (error ? [] : [tool])),
    faults: [...unreadable, ...checked.flatMap(({ error }) => error ?? [])],
  };
}

type Call = (tool: Tool, on_crash: OnCrash, args: unknown, context: ToolContext) => Promise<ToolOutput>;

function register(config: McpServerConfig, tool: Tool, call: Call): RegisteredTool {
  const on_crash = config.on_crash ?? defaultOnCrash(tool);
  return {
    name: toolName(config.name, tool.name),
    description: tool.description ?? tool.title ?? tool.name,
    schema: tool.inputSchema,
    on_crash,
    effect: config.effect ?? defaultEffect(tool),
    hinted: config.effect === undefined,
    source: "mcp",
    origin: config.name,
    run: (args, context) => call(tool, on_crash, args, context),
  };
}

function schemaFault({ name, origin, schema }: RegisteredTool): AppError | undefined {
  try {
    toolParameters(schema);
    return undefined;
  } catch (cause) {
    const message = `MCP server ${origin}: the tool ${name} is left out: ${(cause as Error).message}`;
    return new AppError("tool_failed", message, { cause });
  }
}

/**
 * Always with the server's name in front: a name that is there only while it is unique would change when another server is
 * added, under the definitions that use it.
 */
export function toolName(server: string, tool: string): string {
  const name = `${server}_${tool.replace(/[^A-Za-z0-9_-]/g, "_")}`;
  if (name.length <= MAX_NAME) return name;
  const hash = createHash("sha256").update(tool).digest("hex").slice(0, 8);
  return `${name.slice(0, MAX_NAME - hash.length - 1)}_${hash}`;
}

function defaultOnCrash({ annotations }: Tool): OnCrash {
  return annotations?.readOnlyHint || annotations?.idempotentHint ? "retry" : "never";
}

/** A hint that is missing is taken for the worst, as the protocol says. */
function defaultEffect({ annotations }: Tool): ToolEffect {
  if (annotations?.readOnlyHint) return annotations.openWorldHint === false ? "read" : "network";
  return annotations?.destructiveHint === false ? "write" : "execute";
}

/** No answer came, or none that can be read. */
interface Failed {
  readonly failure: AppError;
  readonly repeatable: boolean;
  /** Nothing else can be sent over this connection. */
  readonly gone: boolean;
}

interface Sending {
  tool: Tool;
  on_crash: OnCrash;
  args: unknown;
  context: ToolContext;
}

async function send({ client }: McpConnection, config: McpServerConfig, { tool, args, context }: Sending) {
  const params = {
    name: tool.name,
    arguments: args as Record<string, unknown>,
    _meta: { "cognition/idempotency_key": context.idempotency_key },
  };
  const result = await untilAnswerEnds(({ signal, onresumptiontoken }) =>
    client.callTool(params, undefined, {
      // Of its own for each call: the SDK never takes its listener off again.
      signal: AbortSignal.any([context.signal, signal]),
      onresumptiontoken,
      timeout: config.call_timeout_ms,
      resetTimeoutOnProgress: true,
      onprogress: ({ message }) => {
        if (message) context.emit({ event: "tool_output", content: `${message}\n` });
      },
    }),
  );
  return result as CallToolResult;
}

function readFailure(config: McpServerConfig, sending: Sending, open: McpConnection, error: unknown): Failed {
  const { tool, on_crash } = sending;
  const unsent = isUnsent(error);
  const lost = !unsent && isLost(error, open);
  return {
    failure: callFailed({ config, tool, on_crash, open, lost }, error),
    repeatable: unsent || (lost && on_crash === "retry"),
    // Over HTTP each call has a connection of its own: one that broke off says nothing of the others.
    gone: unsent || (lost && config.url === undefined),
  };
}

/** The server has not looked at what was sent, whatever that does: it is safe to send it again. */
function isUnsent(error: unknown): boolean {
  if (!(error instanceof Error)) return false;
  if (isForgotten(error)) return true;
  // The SDK's word for a connection that was closed before.
  return error.message === "Not connected" || hasCode(error.cause, "ECONNREFUSED", "ENOTFOUND");
}

/** It does not know our session any more, since it was restarted: 404 by the protocol, 400 by the SDK's own examples. */
function isForgotten(error: Error): boolean {
  const status = httpStatus(error);
  return status === 404 || (status === 400 && /session/i.test(error.message));
}

/** Sent, or about to be, and no answer will come. */
function isLost(error: unknown, { isOpen }: McpConnection): boolean {
  if (error instanceof BrokenOff) return true;
  // Servers use the SDK's code for a closed connection as one for any error of their own.
  if (error instanceof McpError) return error.code === ErrorCode.ConnectionClosed && !isOpen();
  const status = httpStatus(error);
  // A gateway that gave up waiting, or a server that failed on its way: the call may have been done.
  return (status === undefined || status >= 500) && !isUnreadable(error);
}

/** The answer came, and is none by the SDK's schema. */
function isUnreadable(error: unknown): error is Parameters<typeof describeIssues>[0] {
  return Array.isArray((error as { issues?: unknown } | null)?.issues);
}

interface FailedCall {
  readonly config: McpServerConfig;
  readonly tool: Tool;
  readonly on_crash: OnCrash;
  readonly open: McpConnection;
  readonly lost: boolean;
}

function callFailed({ config, tool, on_crash, open, lost }: FailedCall, cause: unknown): AppError {
  const where = `${tool.name} of MCP server ${config.name}`;
  const what = whatBecame({ config, open, lost }, cause);
  if (what === undefined) return new AppError("tool_failed", `${where} failed: ${reasonOf(cause)}`, { cause });
  const log = open.log();
  const said = log === "" ? "" : `\nThe server wrote: ${log}`;
  if (on_crash === "retry") return new AppError("tool_failed", `${where} ${what}${said}`, { cause });
  const message = `${where} ${what}. Nobody knows whether it took effect: check before you call it again.${said}`;
  return new AppError("outcome_unknown", message, { cause });
}

/** Of a call whose end nobody has read; undefined where the server itself said that it failed. */
function whatBecame({ config, open, lost }: Pick<FailedCall, "config" | "open" | "lost">, cause: unknown) {
  if (cause instanceof McpError && cause.code === ErrorCode.RequestTimeout)
    return `did not answer within ${config.call_timeout_ms} ms`;
  if (isUnreadable(cause)) return `answered in a form that can't be read (${describeIssues(cause)})`;
  return lost ? `broke off (${open.fault() ?? reasonOf(cause)})` : undefined;
}

function listFailed({ name }: McpServerConfig, cause: unknown): AppError {
  const reason = isUnreadable(cause) ? describeIssues(cause) : reasonOf(cause);
  return new AppError("tool_failed", `MCP server ${name} did not list its tools: ${reason}`, {
    cause,
    details: { server: name },
  });
}
