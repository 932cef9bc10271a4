import { basename, extname } from "node:path";
import { AgentName, ReplaceAgent } from "@cognition/contract";
import type { SourceFile } from "../file/file-set.ts";
import type { AgentDefinition } from "./agent-definition.ts";
import { splitFrontMatter } from "./front-matter.ts";
import { parseSource, parseYaml, type YamlSource, yamlError } from "./yaml-source.ts";

export const AGENT_FILE_ENDINGS = [".md", ".yaml", ".yml"] as const;

export interface AgentFile {
  readonly definition: AgentDefinition;
  readonly source: YamlSource;
}

const YamlAgent = ReplaceAgent.extend({ name: AgentName.optional() });
/** Its prompt is the text below. */
const MarkdownAgent = YamlAgent.omit({ system_prompt: true });

/** An agent as a file defines it. Its name is that of the file unless it says another. Throws with file and line. */
export function parseAgentFile(file: SourceFile): AgentFile {
  return extname(file.path) === ".md" ? parseMarkdown(file) : parseYamlFile(file);
}

function parseMarkdown(file: SourceFile): AgentFile {
  const { yaml, body } = splitFrontMatter(file.text, file.label);
  const source = parseYaml(yaml, file.label, 2);
  const agent = parseSource(MarkdownAgent, source, Object.keys(MarkdownAgent.shape));
  if (body === "") {
    const line = file.text.trimEnd().split("\n").length;
    throw yamlError(file.label, line, "the prompt is empty: write it below the front matter");
  }
  return toAgentFile(file, source, { ...agent, system_prompt: body });
}

function parseYamlFile(file: SourceFile): AgentFile {
  const source = parseYaml(file.text, file.label);
  const agent = parseSource(YamlAgent, source, Object.keys(YamlAgent.shape));
  if (agent.system_prompt.trim() === "") {
    throw yamlError(file.label, source.lineOf(["system_prompt"]), "the prompt is empty: give a system_prompt");
  }
  return toAgentFile(file, source, agent);
}

function toAgentFile(
  file: SourceFile,
  source: YamlSource,
  agent: ReplaceAgent & { name?: string | undefined },
): AgentFile {
  const name = agent.name ?? basename(file.path, extname(file.path));
  const checked = AgentName.safeParse(name);
  if (!checked.success) throw yamlError(file.label, 1, `"${name}" can't be an agent's name; give it one with "name:"`);
  // A list of which every line was commented out, mostly: it must not become every tool there is.
  if (source.value["tools"] === null) {
    const message = "tools has no value: list what it has ([] is none), or leave tools out for every one";
    throw yamlError(file.label, source.lineOf(["tools"]), message);
  }
  return { source, definition: { ...agent, name, source: "file" } };
}
