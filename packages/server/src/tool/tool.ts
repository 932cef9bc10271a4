import type { Artifact, ArtifactSummary, ContentBlock, JsonObject, Scope, Tool } from "@cognition/contract";
import type { ArtifactChange, NewArtifact, Store } from "@cognition/thread";
import type { z } from "zod";

/** What a crash between a call's start and its result means: run it again, tell the model nobody knows, ask a human. */
export type OnCrash = "retry" | "never" | "ask";

/**
 * The most that a call may do. `read` and `network` change nothing, here or elsewhere (a GET, a web search); a tool that
 * sends, posts or orders something is a `write`, however it gets there; `execute` may do anything at all.
 */
export type ToolEffect = "read" | "network" | "write" | "execute";

export type ToolSource = Tool["source"];

/** A zod schema, or a JSON Schema, of an object. */
export type ToolSchema = z.ZodType | JsonObject;

/** The cross-thread memory, confined to the scope of the session. */
export type ToolStore = Pick<Store, "get" | "put" | "delete" | "search" | "listNamespaces">;

/** The artifacts that the run may see; what it makes belongs to its session and run. */
export interface ToolArtifacts {
  create(artifact: Omit<NewArtifact, "session_id" | "run_id" | "scopes">): Promise<Artifact>;
  update(id: string, change: Omit<ArtifactChange, "run_id">): Promise<Artifact>;
  get(id: string, version?: number): Promise<Artifact>;
  list(filter?: ToolArtifactFilter): Promise<{ artifacts: ArtifactSummary[]; total: number }>;
}

export interface ToolArtifactFilter {
  artifact_type?: Artifact["artifact_type"];
  name?: string;
  limit?: number;
  offset?: number;
}

/** `tool_output` is text while the tool works; `custom` is whatever the tool wants a client to know. */
export type ToolEvent = { event: "tool_output"; content: string } | { event: "custom"; data: unknown };

/** What tools, middleware and the nodes of a user's own graph may know of the run they work for. */
export interface RunContext {
  readonly session_id: string;
  readonly thread_id: string;
  readonly run_id: string;
  readonly agent_name: string;
  readonly scope: Scope;
  /** Aborts when the run does. A tool that goes on regardless is recorded as unknown. */
  readonly signal: AbortSignal;
  /** The session's folder, an absolute path. */
  readonly workspace: string;
}

export interface ToolContext extends RunContext {
  readonly tool_call_id: string;
  /** The same for every attempt of one call: hand it to a service that knows such keys, and a retry has no second effect. */
  readonly idempotency_key: string;
  readonly store: ToolStore;
  readonly artifacts: ToolArtifacts;
  emit(event: ToolEvent): void;
}

export interface ToolOutput {
  /** What the model reads. */
  output: string | ContentBlock[];
  exit_code?: number | null;
  /** For the program, not for the model: stored with the message. */
  artifact?: unknown;
}

export type ToolResult = string | ContentBlock[] | ToolOutput;

/**
 * A tool, whoever made it. `run` gets arguments that fit the schema; what it throws is told to the model as the call's
 * error. It must stop when `context.signal` aborts.
 */
export interface ToolDefinition<Args = JsonObject> {
  readonly name: string;
  readonly description: string;
  readonly schema: ToolSchema;
  readonly on_crash: OnCrash;
  readonly effect: ToolEffect;
  run(args: Args, context: ToolContext): Promise<ToolResult> | ToolResult;
}

export interface RegisteredTool extends ToolDefinition {
  readonly source: ToolSource;
  /** The file or the MCP server it comes from; null for a built-in one. */
  readonly origin: string | null;
  /** `effect` is only what an MCP server says of itself, and no operator has confirmed: a hint of a stranger. */
  readonly hinted?: boolean;
}

/** What a definition may name without knowing how it runs. Tools of the runtime (files, planning) have no `run` here. */
export type ToolSummary = Omit<RegisteredTool, "run" | "schema">;

const CHANGES_NOTHING: ReadonlySet<ToolEffect> = new Set(["read", "network"]);

export function isReading(tool: Pick<ToolSummary, "effect">): boolean {
  return CHANGES_NOTHING.has(tool.effect);
}

/** The same, for where it must hold. */
export function changesNothing(tool: Pick<ToolSummary, "effect" | "hinted">): boolean {
  return isReading(tool) && !tool.hinted;
}
