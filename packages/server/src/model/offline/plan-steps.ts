import { inventoryAnswer } from "./answer/inventory-answer.ts";
import { memoryAnswer } from "./answer/memory-answer.ts";
import { plainAnswer } from "./answer/plain-answer.ts";
import { conditionalSteps, isConditional } from "./condition.ts";
import { eachFile } from "./each-file.ts";
import { readFile } from "./file-tools.ts";
import { findTool } from "./find-tool.ts";
import { inContext } from "./in-context.ts";
import { addToFileIntent } from "./intent/add-to-file-intent.ts";
import { changeTodos } from "./intent/change-todos.ts";
import { bareCommandIntent, commandIntent } from "./intent/command-intent.ts";
import { delegateIntent } from "./intent/delegate-intent.ts";
import { deleteFileIntent } from "./intent/delete-file-intent.ts";
import { editFileIntent } from "./intent/edit-file-intent.ts";
import { editLinesIntent } from "./intent/edit-lines-intent.ts";
import { familiarToolIntent } from "./intent/familiar-tool-intent.ts";
import { listFilesIntent } from "./intent/list-files-intent.ts";
import { machineFactIntent } from "./intent/machine-fact-intent.ts";
import { makeFolderIntent } from "./intent/make-folder-intent.ts";
import { moveFileIntent } from "./intent/move-file-intent.ts";
import { leadingToolIntent, namedToolIntent } from "./intent/named-tool-intent.ts";
import { readAllFilesIntent } from "./intent/read-all-files-intent.ts";
import { readFileIntent } from "./intent/read-file-intent.ts";
import { searchFilesIntent } from "./intent/search-files-intent.ts";
import { setValueIntent } from "./intent/set-value-intent.ts";
import { thingToolIntent } from "./intent/thing-tool-intent.ts";
import { todoSteps } from "./intent/todo-intent.ts";
import { transferIntent } from "./intent/transfer-intent.ts";
import { writeFileIntent } from "./intent/write-file-intent.ts";
import { asksAbout, inItsPlace, isForbidden, isOfText, isTakenBack, speaksOf, withoutForbidden } from "./negation.ts";
import { headed, inOrder, plainly } from "./plain-words.ts";
import { listSkills, matchSkill, type Skill, unknownSkill } from "./skills.ts";
import { spelled } from "./spelling.ts";
import { splitInstructions, withReferent } from "./split-instructions.ts";
import { callTool, type Intent, type Step, say, settle } from "./step.ts";
import type { Turn } from "./turn.ts";
import { findPath, joinFolder } from "./workspace-path.ts";

interface Understanding {
  readonly intent: Intent;
  /** It carries a text of any length. The others are told by a sentence, and their patterns are slow on more. */
  readonly carries?: true;
  /** It changes something: a question how to do it is no order to. */
  readonly acts?: true;
  /** It is for whatever has a name: also for what does something with words that read like an order. */
  readonly takesText?: true;
}

/** Asked in this order; the first that understands an instruction has it. */
const INTENTS: readonly Understanding[] = [
  { intent: inventoryAnswer },
  { intent: todoIntent, acts: true },
  { intent: delegateIntent, carries: true, acts: true },
  { intent: commandIntent, carries: true },
  { intent: bareCommandIntent, acts: true },
  { intent: namedToolIntent, carries: true, acts: true },
  { intent: thingToolIntent, acts: true, takesText: true },
  { intent: moveFileIntent, acts: true },
  { intent: makeFolderIntent, acts: true },
  { intent: transferIntent, acts: true },
  { intent: editLinesIntent, carries: true, acts: true },
  { intent: eachFile(addToFileIntent), carries: true, acts: true },
  { intent: setValueIntent, acts: true },
  { intent: eachFile(editFileIntent), carries: true, acts: true },
  { intent: eachFile(deleteFileIntent), acts: true },
  { intent: eachFile(writeFileIntent), carries: true, acts: true },
  { intent: readAllFilesIntent },
  { intent: searchFilesIntent },
  { intent: leadingToolIntent, acts: true, takesText: true },
  { intent: listFilesIntent },
  { intent: machineFactIntent },
  { intent: memoryAnswer },
  { intent: eachFile(readFileIntent) },
  { intent: familiarToolIntent },
  { intent: plainAnswer },
];
const MAX_SENTENCE = 1_000;

/** Patterns over more text than a person writes as instructions take seconds, in which nothing else on the node runs. */
const MAX_REQUEST = 20_000;

/** The time that patterns take grows with the cube of such a run. */
const MANY_BLANKS = /\s{200}/;

/** A sentence as it was copied from where it was quoted. */
const IN_QUOTES = /^\s*["“„]([^"“”„]+\s[^"“”„]+)["”“]\s*$/;

/** Acting on a part could write half a file: nothing is done rather than something else than was asked. */
function tooMuch({ request, tools }: Turn): readonly Step[] | undefined {
  const isLong = request.length > MAX_REQUEST;
  if (!isLong && !MANY_BLANKS.test(request)) return undefined;
  if (tools.length === 0) return [];
  const has = isLong ? `has ${request.length}` : "has 200 blanks or more in a row";
  return say(
    `I am the offline model and read instructions of up to ${MAX_REQUEST} characters; this message ${has}, so I did nothing. ` +
      "Set OPENAI_API_KEY or ANTHROPIC_API_KEY to work with a real model.",
  );
}

/**
 * Everything that a request asks for, in order. It depends on nothing but the turn, so that each call of the model finds the
 * same plan again and goes on where the results so far end: no state is kept between calls.
 */
export function planSteps(told: Turn): readonly Step[] {
  const refusal = tooMuch(told);
  if (refusal) return refusal;
  if (isTakenBack(told.request)) return say("All right, I did nothing.");
  const turn = inContext({ ...told, request: told.request.replace(IN_QUOTES, "$1") });
  return "request" in turn ? stepsOf(turn) : turn;
}

function stepsOf(turn: Turn): readonly Step[] {
  const proposal = proposePlan(turn);
  if (proposal) return proposal;
  const unknown = unknownSkill(turn.request, turn);
  if (unknown !== undefined && !isInventory(turn))
    return say(`I have no skill named "${unknown}". ${listSkills(turn)}`);
  const skill = skillSteps(turn);
  const rest = todoIntent(turn.request, turn) ?? instructionSteps(inOrder(headed(turn.request)), turn);
  // "Use your greeting skill" asks for no more than the skill itself.
  const reader = skill.length > 0 ? findTool(turn.tools, "skill")?.name : undefined;
  return settle([...skill, ...rest.filter((step) => step.type !== "call" || step.tool !== reader)], turn);
}

/** Asked first of the whole request, whose other sentences may be the items; then of each instruction. */
function todoIntent(text: string, turn: Turn): readonly Step[] | undefined {
  // Not with the list that it stands in: an item such as "do the rest" would be worked off within itself, without end.
  const within = turn.plan.length === 0 ? turn : { ...turn, plan: [] };
  const stepsOf = (item: string) => understand(item, within) ?? [];
  return todoSteps(text, turn, stepsOf) ?? changeTodos(text, turn, stepsOf);
}

const CHANGES =
  /\b(?:create|write|overwrite|save|put|append|insert|prepend|edit|replace|change|delete|remove|rename|move|copy|touch|clear|run|execute|install|make|build|fix|add|send|update|deploy|plan)\b/i;

/** In plan mode there is a tool that shows the plan: what would change something goes through it, sentence by sentence. */
function proposePlan(turn: Turn): readonly Step[] | undefined {
  const tool = findTool(turn.tools, "plan");
  if (!tool || !CHANGES.test(turn.request) || isInventory(turn)) return undefined;
  const refused = turn.results.findLast((result) => result.tool === tool.name && result.failed);
  if (refused) return [...turn.results.flatMap(() => callTool(tool, {})), ...say(`I keep planning: ${refused.output}`)];
  const parts = splitInstructions(turn.request, { isInstruction: () => true, reachesOver: isForbidden });
  const parameter = Object.keys(tool.schema.properties ?? {})[0] ?? "plan";
  return callTool(tool, { [parameter]: parts.map((part, at) => `${at + 1}. ${part.trim()}`).join("\n") });
}

function instructionSteps(text: string, turn: Turn, isMended = false): Step[] {
  const stepsOf = (part: string) => understand(part, turn);
  const parts = isOfText(text)
    ? [text]
    : splitInstructions(text, {
        isInstruction: (part) => stepsOf(part) !== undefined,
        reachesOver: (part) =>
          isForbidden(part) || speaksOf(part) || isConditional(part) || delegateIntent(part, turn) !== undefined,
      });
  const read = parts.map((part) => stepsOf(part) ?? (isMended ? undefined : mendedSteps(part, turn)));
  if (read.every((steps) => steps === undefined)) return [];
  const steps: Step[] = [];
  for (const [at, found] of read.entries()) {
    if (found && isOfUnwritten(parts[at] ?? "", found, steps, turn)) continue;
    const [first, ...others] = found ?? notUnderstood(parts[at] ?? "");
    // "Open a.txt and tell me what it says" is one wish in two sentences; so is "Make a file x.txt and write foo in it".
    const isSaid = JSON.stringify(first) === JSON.stringify(steps.at(-1));
    steps.push(...(first && !isSaid ? [first] : []), ...others);
  }
  return steps.filter((step, at) => {
    const [after, next] = steps.slice(at + 1);
    return !isDraft(step, after) && !(after?.type === "follow" && isDraft(after, next));
  });
}

/** "Write a poem to a.txt and show it": without the poem there is nothing to show, or only what was there before. */
function isOfUnwritten(part: string, [first]: readonly Step[], before: readonly Step[], { tools }: Turn): boolean {
  if (first?.type !== "call" || first.tool === findTool(tools, "write")?.name) return false;
  const path = findPath(part);
  return path !== undefined && before.some((step) => step.type === "say" && step.unwritten === path);
}

/** A slip of the pen is mended only where nothing was understood with it. */
function mendedSteps(part: string, turn: Turn): readonly Step[] | undefined {
  const mended = spelled(part);
  const steps = mended === part ? [] : instructionSteps(mended, turn, true);
  return steps.length > 0 ? steps : undefined;
}

function notUnderstood(part: string): readonly Step[] {
  return /^(?:hi|hello|hey|good (?:morning|afternoon|evening))\b.{0,30}$/i.test(part)
    ? []
    : say(`I did not understand: "${part}"`);
}

/** An empty file that the next step fills: written twice, the second would be refused, since the file is there. */
function isDraft(step: Step, next: Step | undefined): boolean {
  if (step.type !== "follow" || step.draft === undefined || next?.type !== "call") return false;
  const filled = next.args;
  const isWritten = Object.keys(filled).some((name) => /content|text|data|body/i.test(name));
  return isWritten && Object.values(filled).some((value) => isFile(value, step.draft ?? ""));
}

function isFile(value: unknown, path: string): boolean {
  return typeof value === "string" && (value === path || value.endsWith(`/${path}`));
}

const understood = new WeakMap<Turn, Map<string, readonly Step[] | undefined>>();

/**
 * The same part is asked about once for each boundary after it, and again within each condition that it stands under: looked
 * through every time, ten conditions in one message would hold the node for half a minute.
 */
function understand(instruction: string, turn: Turn): readonly Step[] | undefined {
  const known = understood.get(turn) ?? new Map<string, readonly Step[] | undefined>();
  understood.set(turn, known);
  if (!known.has(instruction)) known.set(instruction, lookThrough(instruction, turn));
  return known.get(instruction);
}

function lookThrough(instruction: string, turn: Turn): readonly Step[] | undefined {
  const carried = instruction.length > MAX_SENTENCE;
  if (!carried && isForbidden(instruction)) {
    const order = inItsPlace(instruction);
    return [
      ...say("All right, I won't."),
      ...(order ? instructionSteps(withReferent(order, [instruction]), turn) : []),
    ];
  }
  const wanted = carried ? instruction : joinFolder(withoutForbidden(plainly(instruction)));
  const conditional = carried ? undefined : conditionalSteps(wanted, turn, (order) => instructionSteps(order, turn));
  if (conditional) return conditional;
  for (const { intent } of INTENTS.filter((each) => isFor(each, instruction, carried))) {
    const steps = intent(wanted, turn);
    if (steps) return steps;
  }
  return undefined;
}

function isFor({ carries, acts, takesText }: Understanding, instruction: string, carried: boolean): boolean {
  if (carried && !carries) return false;
  return !acts || !(asksAbout(instruction) || (!takesText && speaksOf(instruction)));
}

/** A skill that fits is read first; what its text then asks for comes before the rest. */
function skillSteps(turn: Turn): readonly Step[] {
  const skill = matchSkill(turn.request, turn);
  const reader = findTool(turn.tools, "skill");
  const isAskedFor = reader !== undefined && turn.request.includes(reader.name);
  const read = !skill || isAskedFor || isInventory(turn) ? undefined : readSkill(skill, turn);
  if (!read) return [];
  const text = turn.results[0]?.failed === false ? turn.results[0].output : "";
  return [...read, ...skillInstructions(text).flatMap((line) => understand(line, turn) ?? [])];
}

function readSkill({ name, path }: Skill, turn: Turn): readonly Step[] | undefined {
  const tool = findTool(turn.tools, "skill");
  if (!tool) return path === undefined ? undefined : readFile(path, turn);
  const properties = Object.keys(tool.schema.properties ?? {});
  const parameter = properties.find((key) => /skill|name/i.test(key)) ?? properties[0] ?? "skill";
  return callTool(tool, { [parameter]: name });
}

function isInventory(turn: Turn): boolean {
  return inventoryAnswer(turn.request, turn) !== undefined;
}

// Only its list items: prose explains, and would be taken for instructions by chance. File tools number their lines.
function skillInstructions(text: string): string[] {
  const body = text.replace(/^\s*(?:\d+\s*\t?\s*)?---[\s\S]*?\n\s*(?:\d+\s*\t?\s*)?---/, "");
  return [...body.matchAll(/^\s*(?:\d+\s*\t\s*)?(?:\d+[.)]|[-*])\s+(.+)$/gm)].map((match) => match[1] ?? "");
}
