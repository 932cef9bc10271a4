import type { OfflineTool } from "./offline-tool.ts";

/** What tools of a kind are called, the likeliest first. Matched against the name's words joined by spaces. */
const NAMES = {
  list: [/^ls$/, /^list( (files?|dir(ectory)?|folder|workspace))?$/, /^dir$/, /list.*(file|dir|folder)/],
  read: [/^read( text)?( file)?$/, /^(view|open|cat|get|show)( file)$/, /read.*file/, /^view$/],
  write: [/^(write|create|save|make|put)( (text|new))?( file)$/, /(write|create|save).*file/, /^write$/],
  edit: [/^(edit|replace|patch|modify|update|str replace)( in)?( file)?( edit tool)?$/, /(edit|replace).*file/],
  delete: [/^(delete|remove|rm|unlink)( file)?$/, /(delete|remove).*file/],
  grep: [/^(grep|rg|ripgrep)$/, /^(search|find) (in |text in )?(files?|code|content)$/, /grep/],
  glob: [/^glob$/, /^(find|search) files?( by name)?$/, /glob/],
  execute: [
    /^(execute|bash|shell|sh|exec|terminal|cmd)$/,
    /^(run|execute)( (shell|bash|a))?( (command|cmd|shell|terminal|bash))$/,
    /(command|shell|bash|terminal)/,
  ],
  todos: [/^(write|update|set|create|manage) todos?( list)?$/, /todo/],
  skill: [/^(read|load|open|get|use)( a)? skill$/, /skill/],
  recall: [/^recall$/, /^(search|read|get|list|query|load|recall) memor(y|ies)$/],
  plan: [/^(present|submit|propose|show|exit)( the)? plan( mode)?$/],
  delegate: [/^task$/, /delegat|subagent|transfer|hand ?off/],
} as const;

export type ToolUse = keyof typeof NAMES;

export function findTool(tools: readonly OfflineTool[], use: ToolUse): OfflineTool | undefined {
  for (const pattern of NAMES[use]) {
    const found = tools.find(({ words }) => pattern.test(words.join(" ")));
    if (found) return found;
  }
  return undefined;
}
