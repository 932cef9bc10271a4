import { posix } from "node:path";
import { readFile } from "../file-tools.ts";
import { fillObject } from "../fill-object.ts";
import { type OfflineTool, wordsOf } from "../offline-tool.ts";
import { literal, mask, POLITE, unquote } from "../phrase.ts";
import { readShown } from "../shown-file.ts";
import { callTool, followUp, type Intent, type Step, say } from "../step.ts";
import type { Turn } from "../turn.ts";
import { findPath } from "../workspace-path.ts";
import { MAX_LINES } from "./add-to-file-intent.ts";
import { callOrAsk } from "./call-or-ask.ts";

/** What tools do with things, in the words of their names and of people. */
const VERBS: Readonly<Record<string, readonly string[]>> = {
  list: ["list", "enumerate", "show", "which", "what", "see", "get"],
  read: ["read", "open", "show", "view", "get", "display", "print", "fetch", "load"],
  save: ["save", "create", "make", "write", "store", "add", "put", "publish", "file", "raise", "submit"],
  delete: ["delete", "remove", "erase"],
  update: ["update", "edit", "change"],
  search: ["search", "find", "query", "look"],
};
/** Things that have intents of their own. */
const NO_THING = /^(?:files?|folders?|director(?:y|ies)|dir|todos?|task|command|skills?|text|plan)$/;

/** The tool for a kind of thing: "list the artifacts" where there are `list_artifacts` and `read_artifact`. */
export const thingToolIntent: Intent = (instruction, turn) => {
  const kept = fileAsThing(instruction, turn);
  if (kept) return kept;
  const { text, reveal } = mask(instruction);
  // Names of files say nothing of a kind.
  const said = wordsOf(text.replace(/\S*[./]\S+/g, " "));
  const kinds = kindsOf(text, said);
  const ofThing = turn.tools.filter((tool) => isSpokenOf(tool, said));
  const tools = ofThing.filter((tool) => kinds.some((kind) => does(tool, kind)));
  // "Show me the artifacts" is a list, "show me the artifact" is one.
  const tool = tools.find((each) => isPlural(each, said) === isPlural(each, each.words)) ?? tools[0];
  const [known] = ofThing;
  if (!tool && known && isNamed(instruction, known) && kinds.length > 0) {
    const names = ofThing.map(({ name }) => name).join(", ");
    return say(`I did nothing: no tool here does that with the ${thingOf(known)}. There are: ${names}.`);
  }
  const isOneOfSeveral = tool && ofThing.some((each) => each !== tool && thingOf(each) === thingOf(tool));
  if (!tool || isOneOfSeveral) return tool && callOrAsk(tool, instruction, turn);
  const about = afterObject(tool, text);
  return about === undefined ? undefined : callOrAsk(tool, `${tool.name} ${reveal(about)}`, turn);
};

const FILE_AS =
  /^\s*(?:save|store|publish|put|add|keep|export)\s+(?:the\s+)?(?:(?:whole\s+)?contents?\s+of\s+)?(?:the\s+)?(?:file\s+)?(\uE000\d+\uE001|[\p{L}\p{N}_@./-]+\.[A-Za-z]\w{0,9})\s+(?:as|to|in|into)\s+(?:an?\s+|the\s+)?(?:new\s+)?(\p{L}+)s?(?:\s+(?:named|called)\s+(\S[\s\S]*?))?[.!]?$/iu;

/** "Save notes.txt as an artifact": what the file holds, under its name. A quoted text is that text, unless it is a name. */
function fileAsThing(instruction: string, turn: Turn): readonly Step[] | undefined {
  const { text, reveal } = mask(instruction.replace(new RegExp(`^\\s*${POLITE}`, "i"), ""));
  const [, file = "", thing = "", name] = FILE_AS.exec(text) ?? [];
  const path = unquote(reveal(file));
  const tool = turn.tools.find(
    (each) =>
      thingOf(each) === thing.toLowerCase() && does(each, "save") && "content" in (each.schema.properties ?? {}),
  );
  const read = tool && /\.[A-Za-z]\w{0,9}$/.test(path) ? readFile(path, turn, MAX_LINES) : undefined;
  if (!tool || !read) return undefined;
  const named = name === undefined ? posix.basename(path) : unquote(reveal(name));
  return [
    ...read,
    ...followUp((result) => {
      const shown = readShown(result);
      if (shown.type !== "text") return say(`I kept nothing: I could not read all of ${path}.`);
      return callTool(tool, fillObject(tool.schema, "", "", turn, { name: named, content: shown.text }));
    }),
  ];
}

/** "the artifact plan.md" is no file of that name. */
function isNamed(instruction: string, tool: OfflineTool): boolean {
  const path = findPath(instruction);
  if (path === undefined) return false;
  return new RegExp(`\\b${thingOf(tool)}\\s+(?:named\\s+|called\\s+)?["'\`“]?${literal(path)}`, "i").test(instruction);
}

function kindsOf(text: string, said: readonly string[]): string[] {
  const verb = said.find((word) => Object.values(VERBS).some((words) => words.includes(word)));
  const kinds = verb === undefined ? [] : Object.keys(VERBS).filter((kind) => VERBS[kind]?.includes(verb));
  // What is opened and not yet there is made: "open a ticket".
  return /\bopen\s+an?\b/i.test(text) ? [...kinds, "save"] : kinds;
}

/** A thing that only one tool knows is often spoken of in passing: what an order is about stands right after its verb. */
function afterObject(tool: OfflineTool, text: string): string | undefined {
  const words = "(?:(?:me|us|for|an?|the|my|our|all|any|new)\\s+)*";
  const details = `((?:(?:${detailsOf(tool)})\\s+)*)`;
  const order = new RegExp(`^\\s*${POLITE}\\w+\\s+${words}${details}${thingOf(tool)}s?\\b`, "i").exec(text);
  if (!order) return undefined;
  return order[1] ? `${text.slice(order[0].length)}; ${order[1].trim()}` : text.slice(order[0].length);
}

/** What is said of a thing before its name: "a high priority ticket". */
function detailsOf({ schema }: OfflineTool): string {
  const said = Object.entries(schema.properties ?? {}).flatMap(([name, { enum: members = [] }]) => [
    ...members.map((member) => literal(String(member))),
    ...(members.length > 0 ? wordsOf(name) : []),
  ]);
  return ["\\d+[\\s-]\\w+", ...said].join("|");
}

function does({ words }: OfflineTool, kind: string): boolean {
  return words.some((word) => VERBS[kind]?.[0] === word || (kind !== "list" && VERBS[kind]?.includes(word)));
}

function thingOf({ words }: OfflineTool): string {
  return words.length > 1 ? singular(words.at(-1) ?? "") : "";
}

function isSpokenOf(tool: OfflineTool, said: readonly string[]): boolean {
  const thing = thingOf(tool);
  return thing !== "" && !NO_THING.test(thing) && said.some((word) => singular(word) === thing);
}

function isPlural(tool: OfflineTool, said: readonly string[]): boolean {
  return said.includes(`${thingOf(tool)}s`);
}

function singular(word: string): string {
  return word.replace(/s$/, "");
}
