import { z } from "zod";
import { DecisionType } from "./approval.ts";
import { idempotent } from "./id.ts";
import { JsonObject, JsonObjectInput, smallRecord } from "./json.ts";
import {
  MAX_LIST_ITEMS,
  MAX_NAME_LENGTH,
  MAX_PATH_LENGTH,
  MAX_SYSTEM_PROMPT_LENGTH,
  MAX_TEXT_LENGTH,
} from "./limits.ts";
import { offsetInfo, offsets } from "./page.ts";
import { ModelName, SessionConfig } from "./session-config.ts";
import { text } from "./text.ts";

export const AgentMode = z.enum(["primary", "subagent", "all"]);
export type AgentMode = z.infer<typeof AgentMode>;

/** Where a definition comes from. Only those of the API can be written through it. */
export const DefinitionSource = z.enum(["builtin", "file", "api"]);
export type DefinitionSource = z.infer<typeof DefinitionSource>;

/** `graph`: a compiled graph that the configuration registers. */
export const AgentSource = z.enum([...DefinitionSource.options, "graph"]);
export type AgentSource = z.infer<typeof AgentSource>;

export const AgentName = text("name", MAX_NAME_LENGTH, 1).regex(/^[A-Za-z0-9][A-Za-z0-9_-]*$/, {
  error: "name must be letters, digits, _ and -, and start with a letter or digit",
});
export type AgentName = z.infer<typeof AgentName>;

/** true asks for every decision, false for none. */
export const InterruptRule = z.union(
  [
    z.boolean(),
    z.strictObject({ allowed_decisions: z.array(DecisionType).min(1), description: z.string().optional() }),
  ],
  {
    error: `must be true, false, or {allowed_decisions, description}; a decision is one of ${DecisionType.options.join(", ")}`,
  },
);
export type InterruptRule = z.infer<typeof InterruptRule>;

const AgentConfig = SessionConfig.omit({ model: true, system_prompt: true });
const names = (name: string, max = MAX_NAME_LENGTH * 4) => z.array(text(name, max, 1)).max(MAX_LIST_ITEMS);
const interrupts = z.record(text("tool name", MAX_NAME_LENGTH * 4, 1), InterruptRule);

/** Among skills and subagents: every one there is. */
export const EVERY = "*";

/** `tools: null` is every tool there is; an empty list is none. */
export const Agent = z.strictObject({
  name: z.string(),
  description: z.string(),
  mode: AgentMode,
  system_prompt: z.string(),
  tools: z.array(z.string()).nullable(),
  skills: z.array(z.string()),
  subagents: z.array(z.string()),
  memory: z.array(z.string()),
  middleware: z.array(z.string()),
  interrupt_on: z.record(z.string(), InterruptRule),
  model: z.string().nullable(),
  config: AgentConfig,
  response_format: JsonObject.nullable(),
  revision: z.string(),
  source: AgentSource,
});
export type Agent = z.infer<typeof Agent>;

const fields = {
  description: text("description", MAX_TEXT_LENGTH),
  mode: AgentMode,
  system_prompt: text("system_prompt", MAX_SYSTEM_PROMPT_LENGTH),
  tools: names("tool name").nullable(),
  skills: names("skill name"),
  subagents: z.array(z.union([z.literal(EVERY), AgentName])).max(MAX_LIST_ITEMS),
  memory: names("memory path", MAX_PATH_LENGTH),
  middleware: names("middleware name"),
  interrupt_on: smallRecord("interrupt_on", MAX_LIST_ITEMS, "tools", interrupts),
  model: ModelName.nullable(),
  config: AgentConfig,
  response_format: JsonObjectInput.nullable(),
};

/** The whole definition: what is left out gets its default, also when it replaces another. */
export const ReplaceAgent = z.strictObject({
  description: fields.description.default(""),
  mode: fields.mode.default("all"),
  system_prompt: fields.system_prompt.default(""),
  tools: fields.tools.default(null),
  skills: fields.skills.default([]),
  subagents: fields.subagents.default([]),
  memory: fields.memory.default([]),
  middleware: fields.middleware.default([]),
  interrupt_on: fields.interrupt_on.prefault({}),
  model: fields.model.default(null),
  config: fields.config.default({}),
  response_format: fields.response_format.default(null),
});
export type ReplaceAgent = z.infer<typeof ReplaceAgent>;

export const CreateAgent = ReplaceAgent.extend({ name: AgentName, ...idempotent });
export type CreateAgent = z.infer<typeof CreateAgent>;
export type CreateAgentInput = z.input<typeof CreateAgent>;

export const UpdateAgent = z.strictObject(fields).partial();
export type UpdateAgent = z.infer<typeof UpdateAgent>;

export const ListAgents = z.strictObject({ ...offsets, mode: AgentMode.optional() });
export type ListAgents = z.infer<typeof ListAgents>;

export const AgentPage = z.strictObject({ agents: z.array(Agent), ...offsetInfo });
export type AgentPage = z.infer<typeof AgentPage>;
