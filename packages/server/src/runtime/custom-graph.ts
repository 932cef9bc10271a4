import { AgentName, AppError } from "@cognition/contract";
import type { CheckpointSaver } from "@cognition/thread";
import { Pregel } from "@langchain/langgraph/pregel";
import type { AgentDefinition } from "../agent/agent-definition.ts";
import { loadExport } from "../file/load-export.ts";
import { passingCheckpoints } from "./passing-checkpoints.ts";
import type { RunGraph } from "./run-graph.ts";

/** A user's own compiled graph, on our checkpointer. */
export interface CustomGraph {
  readonly name: string;
  readonly description: string;
  readonly graph: RunGraph;
  /** The channels that its input may have; undefined where the input is one value (the functional API). */
  readonly inputs: readonly string[] | undefined;
  readonly hasMessages: boolean;
  /** An input's messages take the place of those that were there, where its author gave them no reducer. */
  readonly replacesMessages: boolean;
  /** Its stream tells of every pause. One of another version of LangGraph is asked where it stands. */
  readonly tellsPauses: boolean;
  /** Which of its checkpoints none of its own code follows. */
  readonly passes: ReturnType<typeof passingCheckpoints>;
}

/** A compiled graph, a function that makes one, or where a module exports either: `./graphs/support.ts#graph`. */
export type GraphSource = string | object | (() => unknown);

export interface CustomGraphsOptions {
  sources: Readonly<Record<string, GraphSource>>;
  /** What paths are relative to. */
  root: string;
  checkpointer: CheckpointSaver;
  /** Names that are taken. */
  reserved: readonly string[];
}

/** Loads and checks them all; one that is wrong stops the start, by its name. */
export async function loadCustomGraphs(options: CustomGraphsOptions): Promise<ReadonlyMap<string, CustomGraph>> {
  const { sources, root, checkpointer, reserved } = options;
  const graphs = new Map<string, CustomGraph>();
  for (const [name, source] of Object.entries(sources)) {
    if (!AgentName.safeParse(name).success || reserved.includes(name)) {
      throw refused(name, "can't have this name: it is a built-in agent's, or not made of letters, digits, _ and -");
    }
    const value = typeof source === "string" ? await loadExport(root, source, `graph ${name}`) : source;
    const made = typeof value === "function" ? await (value as () => unknown)() : value;
    graphs.set(name, toCustomGraph(name, made, checkpointer));
  }
  return graphs;
}

/** LangGraph's compiled graph, as far as we look into it. */
interface Compiled extends RunGraph {
  lg_is_pregel: boolean;
  channels: Readonly<Record<string, { lc_graph_name?: string }>>;
  inputChannels: string | readonly string[];
  description?: string;
  builder?: { _schemaDefinition?: Record<string, unknown>; _inputDefinition?: Record<string, unknown> };
  checkpointer?: unknown;
  withConfig(config: object): Compiled;
}

function toCustomGraph(name: string, value: unknown, checkpointer: CheckpointSaver): CustomGraph {
  const compiled = compiledIn(name, value);
  // A copy: the user's own object may be in use elsewhere, with a checkpointer of its own.
  const graph = compiled.withConfig({});
  graph.checkpointer = checkpointer;
  const inputs = inputsOf(compiled);
  return {
    name,
    description: compiled.description ?? "A compiled graph.",
    graph,
    inputs,
    hasMessages: inputs?.includes("messages") ?? false,
    replacesMessages: compiled.channels["messages"]?.lc_graph_name === "LastValue",
    tellsPauses: compiled instanceof Pregel,
    passes: passingCheckpoints(compiled),
  };
}

/** By its marks rather than its class: the user's project may have a LangGraph of its own. */
function compiledIn(name: string, value: unknown): Compiled {
  const { lg_is_pregel, graph, compile } = (value ?? {}) as Partial<Compiled> & { graph?: unknown; compile?: unknown };
  if (lg_is_pregel) return value as Compiled;
  if ((graph as Compiled | undefined)?.lg_is_pregel) return graph as Compiled; // what createAgent gives
  if (typeof compile === "function") throw refused(name, "is a graph that is not compiled: export graph.compile()");
  throw refused(name, `is not a compiled LangGraph graph but ${value === null ? "null" : `a ${typeof value}`}`);
}

/** A state graph takes its input through one channel, and spreads it over those of its input schema. */
function inputsOf({ builder, inputChannels, channels }: Compiled): readonly string[] | undefined {
  const schema = builder?._inputDefinition ?? builder?._schemaDefinition;
  if (schema) return Object.keys(schema);
  if (typeof inputChannels !== "string") return inputChannels;
  return builder ? Object.keys(channels) : undefined;
}

function refused(name: string, reason: string): AppError {
  return new AppError("invalid_config", `the graph ${name} ${reason}`, { details: { graph: name } });
}

/** The agent that a graph is. What it does and may do is its own affair, so nobody delegates to it. */
export function graphDefinition({ name, description }: CustomGraph): AgentDefinition {
  return {
    name,
    description,
    mode: "primary",
    system_prompt: "",
    tools: [],
    skills: [],
    subagents: [],
    memory: [],
    middleware: [],
    interrupt_on: {},
    model: null,
    config: {},
    response_format: null,
    source: "graph",
  };
}
