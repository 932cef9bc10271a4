import { type ErrorCode, EVERY } from "@cognition/contract";
import { compileJsonSchema, DEFINED_WITHIN_MS } from "../tool/json-schema.ts";
import type { AgentDefinition } from "./agent-definition.ts";
import { memoryFault } from "./memory-path.ts";

/** What a definition may name. */
export interface KnownNames {
  /** Also true for a tool of an MCP server that has not been asked yet. */
  hasTool(name: string): boolean;
  readonly tools: readonly string[];
  readonly skills: readonly string[];
  /** By name; the definition itself may be among them. */
  readonly agents: ReadonlyMap<string, Pick<AgentDefinition, "mode">>;
  readonly middleware: readonly string[];
  readonly providers: readonly string[];
}

export interface DefinitionFault {
  readonly code: ErrorCode;
  readonly message: string;
  /** Where in the definition, for the line of a file. */
  readonly path: readonly (string | number)[];
}

const MAX_NAMED = 30;
/** Compiling one takes time in proportion, on the thread that serves everybody. */
const MAX_SCHEMA_CHARACTERS = 100_000;

/** Everything in a definition that leads nowhere; empty if it can be used. */
export function findFaults(definition: AgentDefinition, known: KnownNames): DefinitionFault[] {
  return [
    ...toolFaults(definition, known),
    ...skillFaults(definition, known),
    ...subagentFaults(definition, known),
    ...middlewareFaults(definition, known),
    ...providerFaults(definition, known),
    ...memoryFaults(definition),
    ...responseFormatFaults(definition),
  ];
}

function unknown(code: ErrorCode, kind: string, name: string, valid: readonly string[], path: (string | number)[]) {
  const shown = valid.length === 0 ? "there is none" : listed(valid);
  return { code, message: `unknown ${kind} "${name}" (valid: ${shown})`, path };
}

function listed(names: readonly string[]): string {
  const sorted = [...names].sort();
  const rest = sorted.length - MAX_NAMED;
  return sorted.slice(0, MAX_NAMED).join(", ") + (rest > 0 ? ` and ${rest} more` : "");
}

function toolFaults({ tools, interrupt_on }: AgentDefinition, known: KnownNames): DefinitionFault[] {
  const named = [
    ...(tools ?? []).map((name, index) => ({ name, path: ["tools", index] })),
    ...Object.keys(interrupt_on).map((name) => ({ name, path: ["interrupt_on", name] })),
  ];
  return named
    .filter(({ name }) => !known.hasTool(name))
    .map(({ name, path }) => unknown("unknown_tool", "tool", name, known.tools, path));
}

function skillFaults({ skills }: AgentDefinition, known: KnownNames): DefinitionFault[] {
  return skills.flatMap((name, index) =>
    name === EVERY || known.skills.includes(name)
      ? []
      : [unknown("validation_failed", "skill", name, known.skills, ["skills", index])],
  );
}

function subagentFaults({ name: own, subagents }: AgentDefinition, known: KnownNames): DefinitionFault[] {
  const valid = [...known.agents].filter(([name, { mode }]) => mode !== "primary" && name !== own);
  return subagents.flatMap((name, index): DefinitionFault[] => {
    const path = ["subagents", index];
    if (name === EVERY) return [];
    if (name === own) return [{ code: "validation_failed", message: "an agent can't delegate to itself", path }];
    const target = known.agents.get(name);
    const names = valid.map(([key]) => key);
    if (!target) return [unknown("unknown_agent", "subagent", name, names, path)];
    if (target.mode !== "primary") return [];
    return [{ code: "unknown_agent", message: `subagent "${name}" can't be delegated to: its mode is primary`, path }];
  });
}

function middlewareFaults({ middleware }: AgentDefinition, known: KnownNames): DefinitionFault[] {
  return middleware.flatMap((name, index) =>
    known.middleware.includes(name)
      ? []
      : [unknown("validation_failed", "middleware", name, known.middleware, ["middleware", index])],
  );
}

function providerFaults({ config }: AgentDefinition, known: KnownNames): DefinitionFault[] {
  return (["provider", "provider_id"] as const).flatMap((key) => {
    const name = config[key];
    if (name === undefined || known.providers.includes(name)) return [];
    return [unknown("unknown_provider", "model provider", name, known.providers, ["config", key])];
  });
}

function memoryFaults({ memory, source }: AgentDefinition): DefinitionFault[] {
  return memory.flatMap((file, index): DefinitionFault[] => {
    const fault = memoryFault(file, source);
    if (fault === undefined) return [];
    return [{ code: "validation_failed", message: `memory file "${file}" ${fault}`, path: ["memory", index] }];
  });
}

function responseFormatFaults({ response_format: format }: AgentDefinition): DefinitionFault[] {
  if (format === null) return [];
  const message = schemaFault(format);
  return message
    ? [{ code: "validation_failed", message: `response_format: ${message}`, path: ["response_format"] }]
    : [];
}

function schemaFault(format: Record<string, unknown>): string | undefined {
  if (JSON.stringify(format).length > MAX_SCHEMA_CHARACTERS) {
    return `is larger than the limit of ${MAX_SCHEMA_CHARACTERS} characters`;
  }
  try {
    compileJsonSchema(format, DEFINED_WITHIN_MS);
  } catch (error) {
    return (error as Error).message;
  }
  // What every provider asks of structured output.
  return format["type"] === "object" ? undefined : 'must be the schema of an object: its "type" is not "object"';
}
