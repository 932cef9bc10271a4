import { type OfflineTool, wordsOf } from "../offline-tool.ts";
import { literal, mask, POLITE } from "../phrase.ts";
import { type Intent, say } from "../step.ts";
import { findPath } from "../workspace-path.ts";
import { callOrAsk } from "./call-or-ask.ts";

/** What tools do with things, in the words of their names and of people. */
const VERBS: Readonly<Record<string, readonly string[]>> = {
  list: ["list", "enumerate", "show", "which", "what", "see", "get"],
  read: ["read", "open", "show", "view", "get", "display", "print", "fetch", "load"],
  save: ["save", "create", "make", "write", "store", "add", "put", "publish"],
  delete: ["delete", "remove", "erase"],
  update: ["update", "edit", "change"],
  search: ["search", "find", "query", "look"],
};
/** Things that have intents of their own. */
const NO_THING = /^(?:files?|folders?|director(?:y|ies)|dir|todos?|task|command|skills?|text|plan)$/;

/** The tool for a kind of thing: "list the artifacts" where there are `list_artifacts` and `read_artifact`. */
export const thingToolIntent: Intent = (instruction, turn) => {
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
  if (!tool || ofThing.length > 1) return tool && callOrAsk(tool, instruction, turn);
  const about = afterObject(tool, text);
  return about === undefined ? undefined : callOrAsk(tool, `${tool.name} ${reveal(about)}`, turn);
};

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
  const order = new RegExp(`^\\s*${POLITE}\\w+\\s+${words}${thingOf(tool)}s?\\b`, "i").exec(text);
  return order ? text.slice(order[0].length) : undefined;
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
