import { findTool } from "./find-tool.ts";
import type { OfflineTool } from "./offline-tool.ts";
import type { Turn } from "./turn.ts";

export interface DelegateTool {
  readonly tool: OfflineTool;
  /** Names of its parameters. */
  readonly who: string;
  readonly what: string;
  readonly known: readonly string[];
}

/** The tool that hands work to subagents, and the subagents it knows: its schema or its description lists them. */
export function findDelegateTool({ tools }: Turn): DelegateTool | undefined {
  const tool = tools.find(({ schema }) => whoOf(schema.properties) !== undefined) ?? findTool(tools, "delegate");
  const who = tool && whoOf(tool.schema.properties);
  if (!tool || !who) return undefined;
  const what = Object.keys(tool.schema.properties ?? {}).find(
    (name) => /description|task|prompt|message|instruction|input/i.test(name) && name !== who,
  );
  return { tool, who, what: what ?? "description", known: namesIn(tool, who) };
}

function whoOf(properties: OfflineTool["schema"]["properties"] = {}): string | undefined {
  return Object.keys(properties).find((name) => /^(sub_?)?agent(_?(type|name))?$|subagent/i.test(name));
}

function namesIn({ schema, description }: OfflineTool, who: string): string[] {
  const parameter = schema.properties?.[who];
  if (parameter?.enum) return parameter.enum.map(String);
  const listed = /available(?: agents| subagents| types)?:\s*([^\n.]+)/i.exec(parameter?.description ?? "")?.[1];
  if (listed)
    return listed
      .split(/,\s*/)
      .map((name) => name.trim().replace(/^["'`]|["'`]$/g, ""))
      .filter(Boolean);
  return [...description.matchAll(/^\s*[-*]\s+["'`*]*([\w-]+)["'`*]*\s*:/gm)].map((match) => match[1] ?? "");
}
