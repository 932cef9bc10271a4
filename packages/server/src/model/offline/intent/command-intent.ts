import { fillObject } from "../fill-object.ts";
import { findTool } from "../find-tool.ts";
import type { OfflineTool } from "../offline-tool.ts";
import { dropEnd, unquote } from "../phrase.ts";
import { callTool, type Intent, type Step, say } from "../step.ts";
import type { Turn } from "../turn.ts";

const PLEASE =
  "^(?:please\\s+|now\\s+|first,?\\s+|then\\s+|finally,?\\s+|just\\s+|(?:can|could|would|will) you\\s+|i want you to\\s+|go ahead and\\s+)*";
const FORMS: readonly RegExp[] = [
  new RegExp(
    `${PLEASE}(?:run|execute|issue|type|enter|try|start)\\s+(?:the\\s+|this\\s+|a\\s+|following\\s+)*(?:shell |bash |terminal |unix )?command(?:s| line)?\\s*(?:called|named)?[:\\s]+([\\s\\S]+)$`,
    "i",
  ),
  new RegExp(
    `${PLEASE}(?:in|on|at|using|use|with)\\s+(?:the\\s+|a\\s+|your\\s+)*(?:shell|bash|terminal|command line|console)(?:\\s+tool)?,?\\s*(?:to\\s+)?(?:run|execute|do|type)?[:\\s]+([\\s\\S]+)$`,
    "i",
  ),
  new RegExp(`${PLEASE}(?:run|execute)(?:\\s+(?:this|these|the following))?\\s*:\\s*([\\s\\S]+)$`, "i"),
  new RegExp(`${PLEASE}(?:run|execute)(?:\\s+(?:this|these|the following))?\\s*(\`\`\`[\\s\\S]+\`\`\`)$`, "i"),
  new RegExp(
    `${PLEASE}(?:run|execute|exec)\\s+((?:\`[^\`]+\`|"[^"]+"|'[^']+'))(?:\\s+(?:in|on) (?:the|a|your) (?:shell|terminal|sandbox|workspace|bash|console))?$`,
    "i",
  ),
  /^\s*\$\s+([\s\S]+)$/,
];
const PROGRAMS =
  "(?:ls|cat|echo|pwd|npm|npx|node|git|python3?|pip|make|cargo|go|grep|find|touch|mkdir|rm|cp|mv|sleep|date|whoami|uname|curl|wget|sh|bash|env|which|head|tail|wc|sed|awk|sort|true|false|printf|test|exit|kill|ps|df|du|tsc|vitest|biome|docker|\\./\\S+|\\S+\\.sh)(?:\\s[\\s\\S]*)?";
/** What `run …` without the word "command" may begin with: programs, not things one runs in another sense. */
const PROGRAM = new RegExp(
  `${PLEASE}(?:run|execute|exec)\\s+(?:(?:the|all|my)\\s+[\\w ]{1,40}\\s+(?:with|using|via)\\s+)?(${PROGRAMS})$`,
  "i",
);

/** A command to run, with whichever tool runs commands here. */
export const commandIntent: Intent = (instruction, turn) => {
  const command = readCommand(instruction);
  if (command === undefined) return undefined;
  return runCommand(command, turn) ?? say(`I can't run "${command}": no tool here runs commands.`);
};

export function runCommand(command: string, turn: Turn): Step[] | undefined {
  const tool = findTool(turn.tools, "execute");
  return tool && callTool(tool, commandArguments(tool, command, turn));
}

function commandArguments(tool: OfflineTool, command: string, turn: Turn): Record<string, unknown> {
  const names = Object.keys(tool.schema.properties ?? {});
  const name =
    names.find((key) => /^(command|cmd|script|input|code)$/i.test(key)) ?? tool.schema.required?.[0] ?? names[0];
  return name ? fillObject(tool.schema, "", "", turn, { [name]: command }) : { command };
}

function readCommand(instruction: string): string | undefined {
  for (const form of [...FORMS, PROGRAM]) {
    const found = form.exec(dropEnd(instruction));
    if (found?.[1]) return unquote(found[1]);
  }
  return undefined;
}
