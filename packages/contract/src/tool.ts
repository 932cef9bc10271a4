import { z } from "zod";
import { JsonObject } from "./json.ts";
import { offsetInfo } from "./page.ts";

/** `safe_to_retry`: after a crash an unfinished call may run again; any other is reported as unknown. */
export const Tool = z.strictObject({
  name: z.string(),
  description: z.string(),
  parameters: JsonObject,
  source: z.enum(["builtin", "file", "mcp"]),
  writes: z.boolean(),
  safe_to_retry: z.boolean(),
});
export type Tool = z.infer<typeof Tool>;

export const ToolPage = z.strictObject({ tools: z.array(Tool), ...offsetInfo });
export type ToolPage = z.infer<typeof ToolPage>;

export const Skill = z.strictObject({
  name: z.string(),
  description: z.string(),
  path: z.string(),
  allowed_tools: z.array(z.string()),
});
export type Skill = z.infer<typeof Skill>;

export const SkillPage = z.strictObject({ skills: z.array(Skill), ...offsetInfo });
export type SkillPage = z.infer<typeof SkillPage>;
