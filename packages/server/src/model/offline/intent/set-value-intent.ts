import { editFile, readFile } from "../file-tools.ts";
import { dropEnd, literal, mask, POLITE, QUOTED, unquote } from "../phrase.ts";
import { changeLines, readShown } from "../shown-file.ts";
import { followUp, type Intent, type Step, say } from "../step.ts";
import type { ToolResult, Turn } from "../turn.ts";
import { findPath } from "../workspace-path.ts";
import { MAX_LINES } from "./add-to-file-intent.ts";
import { withoutPlace } from "./edit-file-intent.ts";

const KEY = `(${QUOTED}|[\\p{L}\\p{N}_$.-]+)`;
const FORM = new RegExp(
  `^\\s*${POLITE}(set|change|update|bump|raise|lower|increase|decrease)\\s+(?:the\\s+)?(?:(?:value|key|field|property|setting|option|variable)\\s+(?:of\\s+|for\\s+)?)?(?:the\\s+)?${KEY}(?:\\s+(?:value|field|setting|number|key|property|option))?(?:\\s+from\\s+(\\S+))?(?:\\s+to\\s+|\\s*=\\s*)(?:be\\s+)?(\\S[\\s\\S]*)$`,
  "iu",
);
/** "… port to 9090 and debug to true" */
const AND_ANOTHER = new RegExp(
  `^(\\S[\\s\\S]*?),?\\s+and\\s+(?:set\\s+|change\\s+)?(?:the\\s+)?(${KEY}\\s+(?:from\\s+\\S+\\s+)?to\\s+[\\s\\S]+)$`,
  "iu",
);
/** Of a whole file, or of its lines: these are told apart elsewhere. */
const NO_KEY = /^(?:contents?|text|everything|lines?|file|it|all|every|each|occurrences?|words?)$/i;
/** Where a word before a colon or a sign has a value. In prose the word itself is meant. */
const HAS_KEYS = /\.(?:json|ya?ml|toml|ini|env|conf|cfg|properties)$|(?:^|\/)\.env\b/i;

interface Setting {
  readonly key: string;
  readonly before: string | undefined;
  readonly after: string;
}

/** "Change the port in config.yaml to 9090": what stands beside the name is to be another value, and the name stays. */
export const setValueIntent: Intent = (instruction, turn) => {
  const path = findPath(instruction);
  if (path === undefined) return undefined;
  const { text, reveal } = mask(withoutPlace(dropEnd(instruction), path));
  const [, verb = "", named = "", before, after = ""] = FORM.exec(text) ?? [];
  const key = unquote(reveal(named));
  if (!named || NO_KEY.test(key) || key === path) return undefined;
  if (before === undefined && !/^set$/i.test(verb) && !HAS_KEYS.test(path)) return undefined;
  const [, first, second] = AND_ANOTHER.exec(after) ?? [];
  if (first && second) {
    const orders = [`${named}${before ? ` from ${before}` : ""} to ${first}`, second].map((order) =>
      reveal(`${verb} ${order} in ${path}`),
    );
    return orders.flatMap((order) => setValueIntent(order, turn) ?? []);
  }
  const setting = { key, before: before && unquote(reveal(before)), after: unquote(reveal(dropEnd(after))) };
  const read = readFile(path, turn, MAX_LINES);
  return read && [...read, ...followUp((result) => setValue(path, setting, verb, result, turn))];
};

function setValue(path: string, setting: Setting, verb: string, result: ToolResult, turn: Turn): readonly Step[] {
  const { key, before, after } = setting;
  const shown = readShown(result);
  if (shown.type !== "text") return say(`I left ${path} as it is: I could not read all of it.`);
  const [found, ...others] = valuesOf(shown.text, key, /\.json$/i.test(path));
  if (others.length > 0) return say(`I left ${path} as it is: ${key} is in it more than once.`);
  if (found && (before === undefined || unquote(found.value) === before)) {
    const lines = shown.text.slice(0, found.at).split("\n");
    const line = shown.text.split("\n")[lines.length - 1] ?? "";
    const column = lines.at(-1)?.length ?? 0;
    const value = inFormOf(found.value, after, /\.json$/i.test(path));
    const changed = `${line.slice(0, column)}${value}${line.slice(column + found.value.length)}`;
    return edit(path, changeLines(shown.text, lines.length - 1, 1, [changed]), turn);
  }
  // It is the text itself that was meant: "change hello to goodbye".
  const old = before ?? (/^set$/i.test(verb) ? undefined : key);
  if (old === undefined || !shown.text.includes(old))
    return say(`I left ${path} as it is: I found no ${old ?? key} in it.`);
  return edit(path, { before: old, after }, turn);
}

function edit(path: string, change: { before: string; after: string }, turn: Turn): readonly Step[] {
  return editFile(path, change, turn) ?? say(`I can't edit ${path}: no tool here edits files.`);
}

interface Value {
  readonly at: number;
  readonly value: string;
}

/** In JSON a value ends at a comma or a bracket, elsewhere with its line. */
function valuesOf(text: string, key: string, isJson: boolean): Value[] {
  const plain = isJson ? "[\\w.+-]+" : "[^\\s\"'\\[{|>#][^\\n#]*";
  const form = new RegExp(
    `(?<![\\w.-])(["']?)${literal(key)}\\1[ \\t]*[:=][ \\t]*("(?:[^"\\\\\\n]|\\\\.)*"|'[^'\\n]*'|${plain})`,
    "gim",
  );
  return [...text.matchAll(form)].map((match) => {
    const value = match[2] ?? "";
    return { at: match.index + match[0].length - value.length, value: value.trimEnd().replace(/[;,]$/, "") };
  });
}

/** Quoted as the one before it was; what JSON knows no other way is a string. */
function inFormOf(old: string, value: string, isJson: boolean): string {
  if (old.startsWith('"')) return JSON.stringify(value);
  if (old.startsWith("'")) return `'${value}'`;
  return isJson && !/^(?:-?\d+(?:\.\d+)?|true|false|null)$/.test(value) ? JSON.stringify(value) : value;
}
