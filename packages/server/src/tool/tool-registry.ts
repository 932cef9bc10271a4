import { AppError, type JsonObject, type Tool } from "@cognition/contract";
import { whenChanged } from "../definition/when-changed.ts";
import { type Problem, toProblem } from "../file/problem.ts";
import type { McpServer } from "./mcp-server.ts";
import { RUNTIME_TOOLS } from "./runtime-tools.ts";
import { isReading, type RegisteredTool, type ToolDefinition, type ToolSummary } from "./tool.ts";
import type { ToolFiles, ToolsOfFiles } from "./tool-files.ts";
import { toolParameters } from "./tool-schema.ts";

/** What can be named now, without asking any MCP server. */
export interface KnownTools {
  /** Another one whenever a tool came, went or changed: what was built from tools is good for one version. */
  readonly version: number;
  /** Those of the runtime included. */
  readonly tools: ReadonlyMap<string, ToolSummary>;
  /** Those of them that can run by themselves: built-in ones, those of files and of MCP servers. */
  readonly usable: readonly RegisteredTool[];
  /** Whether a tool of this name is there, or may be one of an MCP server that does not answer or was not asked yet. */
  has(name: string): boolean;
}

export interface ToolRegistry {
  /** The same object as before, if nothing has changed. */
  known(): Promise<KnownTools>;
  /**
   * What is known once the MCP servers that could have one of `names` were asked, all of them without: of those it is what there
   * is now. One that was lost is connected again; one that fails is left out and reported.
   */
  ask(names?: readonly string[] | null): Promise<KnownTools>;
  /** What is wrong with files and servers now. */
  problems(): Promise<Problem[]>;
  /** Ends every server's process. */
  close(): Promise<void>;
}

export interface ToolRegistryOptions {
  builtins: readonly ToolDefinition[];
  /** Names of built-in tools, those of the runtime included, that nobody gets. */
  disabled?: readonly string[];
  files?: ToolFiles;
  servers?: readonly McpServer[];
}

export function createToolRegistry(options: ToolRegistryOptions): ToolRegistry {
  const { files, servers = [], disabled = [] } = options;
  refuseUnknown(disabled, [...options.builtins, ...RUNTIME_TOOLS]);
  const isEnabled = ({ name }: { name: string }) => !disabled.includes(name);
  const runtime = RUNTIME_TOOLS.filter(isEnabled);
  const builtins = options.builtins
    .filter(isEnabled)
    .map((tool) => ({ ...tool, source: "builtin", origin: null }) as const);

  /** In the order in which they may take a name. The engine's names stay taken when they are switched off. */
  function settle(own: ToolsOfFiles | undefined, mcp: readonly RegisteredTool[]) {
    const taken = new Map<string, string>([...RUNTIME_TOOLS, ...builtins].map(({ name }) => [name, "a built-in tool"]));
    const accepted: RegisteredTool[] = [...builtins];
    const problems = [...(own?.problems ?? [])];
    for (const tool of [...(own?.tools ?? []), ...mcp]) {
      const owner = taken.get(tool.name);
      if (owner) problems.push(nameTaken(tool, owner));
      else {
        taken.set(tool.name, tool.origin ?? tool.source);
        accepted.push(tool);
      }
    }
    return { accepted, problems };
  }

  let last: readonly RegisteredTool[] = [];
  let version = 0;

  /** Of each server what is known, undefined if that is nothing. */
  const settleKnown = whenChanged((own: ToolsOfFiles | undefined, ...mcp: (RegisteredTool[] | undefined)[]) => {
    const { accepted, problems } = settle(
      own,
      mcp.flatMap((tools) => tools ?? []),
    );
    if (accepted.length !== last.length || accepted.some((tool, index) => tool !== last[index])) version += 1;
    last = accepted;
    const tools: ReadonlyMap<string, ToolSummary> = new Map([...runtime, ...accepted].map((tool) => [tool.name, tool]));
    const unasked = servers.filter((_, index) => mcp[index] === undefined);
    const has = (name: string) => tools.has(name) || unasked.some((server) => name.startsWith(`${server.name}_`));
    return { known: { version, tools, usable: accepted, has }, problems };
  });
  const look = async () => settleKnown(await files?.refresh(), ...servers.map((server) => server.known()));

  return {
    known: async () => (await look()).known,
    async ask(names) {
      const wanted = servers.filter(({ name }) => !names || names.some((tool) => tool.startsWith(`${name}_`)));
      await Promise.allSettled(wanted.map((server) => server.tools()));
      return (await look()).known;
    },
    async problems() {
      const failed = servers.flatMap((server) => server.problems()).map((error) => toProblem(error));
      return [...(await look()).problems, ...failed];
    },
    close: async () => {
      await Promise.all(servers.map((server) => server.close()));
    },
  };
}

/** As the API shows it. */
export function describeTool(tool: RegisteredTool): Tool {
  return describe(tool, toolParameters(tool.schema));
}

/** One that the graph engine brings: its parameters are the engine's own. */
export function describeRuntimeTool(tool: ToolSummary): Tool {
  return describe(tool, { type: "object" });
}

function describe(tool: ToolSummary, parameters: JsonObject): Tool {
  const { name, description, source, on_crash } = tool;
  return { name, description, parameters, source, writes: !isReading(tool), safe_to_retry: on_crash === "retry" };
}

function refuseUnknown(disabled: readonly string[], tools: readonly { name: string }[]): void {
  const valid = tools.map(({ name }) => name).sort();
  const unknown = disabled.filter((name) => !valid.includes(name));
  if (unknown.length === 0) return;
  const message = `can't switch off ${unknown.join(", ")}: no such built-in tool (valid: ${valid.join(", ")})`;
  throw new AppError("invalid_config", message);
}

function nameTaken({ name, origin, source }: RegisteredTool, owner: string): Problem {
  const file = source === "file" ? origin : null;
  const where = source === "mcp" ? `MCP server ${origin}` : origin;
  const message = `${where}: the tool name "${name}" is taken by ${owner}; give this tool another`;
  return { code: "already_exists", message, file, line: null };
}
