import { DEFAULT_MAX_OUTPUT_BYTES, type Skill } from "@cognition/contract";
import { z } from "zod";
import type { SkillFiles } from "../agent/skill-files.ts";
import { defineTool } from "../tool/define-tool.ts";
import { limitText } from "../tool/limit-text.ts";
import type { ToolDefinition } from "../tool/tool.ts";

export const READ_SKILL = "read_skill";

/** Reads what the prompt only names: a skill's instructions, and the files beside them. Only the agent's own skills. */
export function createSkillTool(skills: readonly Skill[], files: Pick<SkillFiles, "read" | "list">): ToolDefinition {
  const names = skills.map(({ name }) => name) as [string, ...string[]];
  return defineTool({
    name: READ_SKILL,
    description: "Reads the instructions of a skill, or another file of its folder.",
    schema: z.object({
      skill: z.enum(names).describe("The skill's name"),
      file: z.string().default("SKILL.md").describe("A file of its folder; the instructions by default"),
    }),
    on_crash: "retry",
    effect: "read",
    run: async ({ skill, file }) => {
      const [bytes, all] = await Promise.all([files.read(skill, file), files.list(skill)]);
      const text = limitText(decode(bytes, file), DEFAULT_MAX_OUTPUT_BYTES);
      const others = all.filter((other) => other !== file);
      return others.length > 0 ? `${text}\n\n[Other files of this skill: ${others.join(", ")}]` : text;
    },
  }) as ToolDefinition;
}

function decode(bytes: Uint8Array, file: string): string {
  try {
    return new TextDecoder("utf-8", { fatal: true }).decode(bytes);
  } catch {
    return `[${file} is not text: ${bytes.length} bytes]`;
  }
}

/** What an agent knows of its skills before it needs one. */
export function skillsPrompt(skills: readonly Skill[]): string {
  if (skills.length === 0) return "";
  const list = skills.map(({ name, description, allowed_tools }) => {
    const tools = allowed_tools.length > 0 ? ` Uses: ${allowed_tools.join(", ")}.` : "";
    return `- **${name}**: ${description}${tools}\n  → ${READ_SKILL} reads \`${name}/SKILL.md\``;
  });
  return `## Skills

Instructions for particular work. When a task fits one, read it with \`${READ_SKILL}\` first, then follow it.

${list.join("\n")}`;
}
