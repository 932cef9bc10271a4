import { DEFAULT_AGENT_NAME, EVERY } from "@cognition/contract";
import { isReading, type ToolSummary } from "../tool/tool.ts";
import type { AgentDefinition } from "./agent-definition.ts";

const READONLY_AGENT_NAME = "readonly";
/** Nobody else may have them. */
export const BUILTIN_AGENT_NAMES: readonly string[] = [DEFAULT_AGENT_NAME, READONLY_AGENT_NAME];

const plain = {
  skills: [EVERY],
  subagents: [EVERY],
  memory: [],
  middleware: [],
  interrupt_on: {},
  model: null,
  config: {},
  response_format: null,
  source: "builtin",
} satisfies Partial<AgentDefinition>;

const DEFAULT_PROMPT = `You are a capable assistant that works in a folder of files, with the tools you are given.

- Do what was asked, completely, and no more. Look at the files before you change them.
- Plan work of several steps with the todo list, and keep it up to date.
- Check what you did. If a tool reports that nobody knows whether a call took effect, find out before you repeat it.
- Answer briefly: what you did, what you found, what is left.`;

const READONLY_PROMPT = `You are a careful analyst. You read files and pages and answer questions about them.

- You can't change files, run commands or change anything elsewhere; where a change is needed, describe it exactly.
- Say where each fact comes from, with file and line.
- Answer briefly, and say what you could not find out.`;

/**
 * The agents that are always there. `readonly` has every tool that changes nothing; of MCP servers none, since it would not
 * be there while one of them is away. Its delegation is limited in `planDelegation`.
 */
export function builtinAgents(tools: readonly ToolSummary[]): AgentDefinition[] {
  const reading = tools.filter((tool) => tool.source !== "mcp" && isReading(tool)).map(({ name }) => name);
  return [
    {
      ...plain,
      name: DEFAULT_AGENT_NAME,
      description: "Works on files, runs commands, uses every tool and delegates to every agent there is.",
      mode: "primary",
      system_prompt: DEFAULT_PROMPT,
      tools: null,
    },
    {
      ...plain,
      name: READONLY_AGENT_NAME,
      description: "Reads and answers; can't write, execute or delegate to an agent that can.",
      mode: "all",
      system_prompt: READONLY_PROMPT,
      tools: reading.sort(),
    },
  ];
}

/** Whether an agent must never reach one that can change something. */
export function isConfined({ name, source }: AgentDefinition): boolean {
  return name === READONLY_AGENT_NAME && source === "builtin";
}
