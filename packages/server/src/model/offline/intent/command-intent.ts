import { readList } from "../coerce-value.ts";
import { fillObject } from "../fill-object.ts";
import { findTool } from "../find-tool.ts";
import type { OfflineTool } from "../offline-tool.ts";
import { dropEnd, mask, POLITE, QUOTED, unquote } from "../phrase.ts";
import { callTool, type Intent, type Step, say } from "../step.ts";
import { readTimes } from "../times.ts";
import type { Turn } from "../turn.ts";

const SHELL = "(?:shell|bash|terminal|command line|console)";
const PROGRAM =
  "(?:ls|cat|echo|pwd|npm|npx|node|git|python3?|pip|make|cargo|go|grep|find|touch|mkdir|rm|cp|mv|sleep|date|whoami|uname|curl|wget|sh|bash|env|which|head|tail|wc|sed|awk|sort|true|false|printf|test|exit|kill|ps|df|du|tsc|vitest|biome|docker|\\./\\S+|\\S+\\.sh)(?![\\w.-])";
const START = `^\\s*${POLITE}`;
/** What a command stands after. Quoted parts are hidden from these. */
const FORMS: readonly RegExp[] = [
  `${START}(?:run|execute|issue|type|enter|try|start|launch)\\s+(?:(?:the|this|these|a|following|two|three)\\s+)*(?:shell |bash |terminal |unix )?command(?:s| line)?(?:\\s+(?:one (?:after|by) (?:another|the other|one)|in (?:this )?(?:order|sequence|turn)))?\\s*(?:called|named)?([:\\s]\\s*)([\\s\\S]+)$`,
  `${START}(?:in|on|at|using|use|with)\\s+(?:(?:the|a|your)\\s+)*${SHELL}(?:\\s+tool)?,?(?:\\s*(?:to\\s+)?(?:run|execute|do|type))?([:\\s]\\s*)(?!to\\s)([\\s\\S]+)$`,
  `${START}(?:run|execute)(?:\\s+(?:this|these|the following))?(\\s*:\\s*)([\\s\\S]+)$`,
  `${START}(?:run|execute|exec|start|launch)(?:\\s+(?:this|these|the following|both|an?|the)(?:\\s+(?:quick|simple|short))?)?(\\s*)(${QUOTED}[\\s\\S]*)$`,
  `${START}(?:what(?:'s| is| does)|show me|give me|get|print)\\s+(?:the\\s+(?:output|result)\\s+of\\s+)?()(${QUOTED})(?:\\s+(?:print|output|return|give|say|show))?$`,
  "^\\s*(\\$)\\s+([\\s\\S]+)$",
  // Without the word "command": programs, not things one runs in another sense.
  `${START}(?:run|execute|exec)\\s+(?:(?:the|all|my)\\s+[\\w ]{1,40}\\s+(?:with|using|via)\\s+)?()(${PROGRAM}[\\s\\S]*)$`,
].map((form) => new RegExp(form, "i"));
const JOINED = "\\s*(?:,\\s*(?:and\\s+)?(?:then\\s+)?|;\\s*|\\s(?:and|then|and then)\\s+)";
const ALL_QUOTED = new RegExp(`^(${QUOTED}(?:${JOINED}${QUOTED})*)([\\s\\S]*)$`, "i");
/** Begins with a program: what stands after a semicolon in a command. */
export const STARTS_PROGRAM = new RegExp(`^\\s*${PROGRAM}`);
const IN_FOLDER = /\s+(?:in|inside|from)\s+(?:the\s+)?([\w./-]+)\s+(?:folder|directory)$/i;
/** "npm install in packages/app" */
const IN_PLACE =
  /\s+in(?:side)?\s+(?!(?:production|development|dev|debug|verbose|quiet|parallel|background|order|full|detail)\b)([\w-][\w./-]*)$/i;
/** What they print may have any words in it. */
const PRINTS = /^\s*(?:echo|printf|for|git\s+commit|grep|sh|bash)\b/;
const NEXT_PROGRAM = new RegExp(
  `,\\s*(?:and\\s+|then\\s+)*(?=${PROGRAM})|\\s+(?:and|then|and then)\\s+(?=${PROGRAM})`,
  "i",
);
/** What is said around a command and is no part of it. */
const WISHES =
  /(?:^|,?\s+)(?:(?:and\s+|then\s+|please\s+)*(?:show|tell|give|report|print|display|let me (?:know|see))\s+(?:(?:me|us|back)\s+)*(?:what|the|its|whether|if|how|when|once)\b[^|&;<>]*|what(?:'s| is| was| does)\b[^|&;<>]*|please|slowly|for me|(?:in|on|with|using)\s+(?:the|a|your)\s+(?:shell|terminal|sandbox|workspace|bash|console))[.!?]?$/i;
/** Signs of a shell between programs. */
const OPERATED = new RegExp(`^\\s*(?:${PROGRAM}|cd\\b)[^|&;<>]*(?:\\||&&|;|>>?|<(?!!?/?[a-z][^<>]*>))\\s*\\S`);
/** What nobody says but to have it run. */
const BARE =
  /^\s*(?:(?:pwd|whoami)\s*$|(?:mkdir|rm|cp|mv|chmod)\s+\S|touch(?:\s+[\w./-]*\.\w+){2,}\s*$|(?:git|npm|npx|docker|cargo|pip)\s+(?!is\b|are\b|was\b|has\b)[a-z-]+|(?:node|python3?|bash|sh)\s+(?:-|\S+\.\w)|(?:diff|tail|stat)\s+\S+\.\w|(?:ls|cat|grep|find|head|tail|wc|sort|du|df|ps)\s+-)/;

/** "run hello.py": a file is no program that could be found by its name. */
const SCRIPT = new RegExp(
  `${START}(?:run|execute)\\s+(?:(?:the|file|script|program)\\s+)*([\\w@-][\\w@/-]*\\.(py|js|mjs|cjs|ts|sh))(?:\\s+(?:with|using)\\s+(python3?|node|sh|bash))?$`,
  "i",
);
const INTERPRETERS: Readonly<Record<string, string>> = { py: "python3", sh: "sh" };

function scriptCommand(text: string): string | undefined {
  const [, path, kind = "", named] = SCRIPT.exec(text) ?? [];
  return path && `${named ?? INTERPRETERS[kind.toLowerCase()] ?? "node"} ${path}`;
}

/** "Run the following commands:" with one on each line of a list. */
const LIST = new RegExp(
  `^\\s*${POLITE}(?:run|execute|exec|do)\\b[^:\\n]*\\bcommands?\\b[^:\\n]*:\\s*\\n((?:\\s*(?:\\d+[.)]|[-*•])\\s+\\S[^\\n]*(?:\\n|$))+)\\s*$`,
  "i",
);

/** Commands to run, with whichever tool runs commands here. */
export const commandIntent: Intent = (instruction, turn) => {
  const { text, reveal } = mask(dropEnd(instruction));
  const list = LIST.exec(text)?.[1];
  if (list) return readList(list).flatMap((command) => run(unquote(reveal(command)), turn));
  const script = scriptCommand(text);
  if (script) return run(script, turn);
  const [, sign = "", said] = FORMS.map((form) => form.exec(text)).find((found) => found !== null) ?? [];
  if (said === undefined || asksForFile(text, reveal)) return undefined;
  const quoted = ALL_QUOTED.exec(said);
  // A program's path may be quoted, with its arguments after it.
  if (quoted?.[1] && !/^\s+[-|&<>/.]/.test(quoted[2] ?? "")) {
    const commands = quoted[1].match(new RegExp(QUOTED, "g")) ?? [];
    const { order, times } = readTimes(quoted[2] ?? "");
    const place = IN_FOLDER.exec(order);
    const enter = enterFolder(place?.[1]);
    const calls = commands.flatMap((command) => run(enter(unquote(reveal(command))), turn));
    const rest = place === null ? order : order.replace(IN_FOLDER, "");
    return [...Array.from({ length: times }, () => calls).flat(), ...leftOver(reveal(rest))];
  }
  // After a colon or a prompt stands the command itself, whatever its words.
  if (/[:$]/.test(sign) && !/\bcommands\b/i.test(text)) return run(unquote(reveal(said)), turn);
  return runPlain(said, reveal, turn);
};

/** "a command that lists files" */
const DESCRIBED = /^(?:that|which|to)\s/i;

function runPlain(said: string, reveal: Reveal, turn: Turn): Step[] {
  if (DESCRIBED.test(said)) return say("I can't think up a command. Say for example: Run the command: ls -la");
  const { order, times } = PRINTS.test(said) ? { order: said, times: 1 } : readTimes(said);
  const calls = plainCommands(order).flatMap((command) => run(command(reveal), turn));
  return Array.from({ length: times }, () => calls).flat();
}

type Reveal = (part: string) => string;

/** Commands that stand in a sentence without quotes, apart from the words around them. */
function plainCommands(said: string): ((reveal: Reveal) => string)[] {
  const order = said.replace(WISHES, "").replace(WISHES, "");
  const place = IN_FOLDER.exec(order) ?? (PRINTS.test(order) ? null : IN_PLACE.exec(order));
  const enter = enterFolder(place?.[1]);
  return (place ? order.slice(0, place.index) : order)
    .replace(FLAGS, (_, flags: string) => ` ${(flags.match(/-[^\s,]+/g) ?? []).join(" ")}`)
    .split(NEXT_PROGRAM)
    .map((command) => (reveal) => enter(reveal(command).trim()));
}

/** "ls with the flags -l and -a" */
const FLAGS =
  /\s+with\s+(?:the\s+)?(?:flags?|options?|switch(?:es)?|arguments?)\s+((?:-[^\s,]+(?:\s*,\s*|\s+and\s+|\s+|$))+)$/i;

/** Through a shell of its own: not every sandbox has one for the command itself. */
function enterFolder(folder: string | undefined): (command: string) => string {
  if (!folder || /^(?:this|current|same|working|root)$/i.test(folder)) return (command) => command;
  return (command) => `sh -c ${quoteWord(`cd ${quoteWord(folder)} && ${command}`)}`;
}

/** "what does "my notes.txt" say" asks for what is in it. */
function asksForFile(text: string, reveal: (text: string) => string): boolean {
  const asked = new RegExp(`^\\s*what(?:'s| is| does)\\s+(${QUOTED})`, "i").exec(text)?.[1];
  const name = asked && unquote(reveal(asked));
  return name !== undefined && /^[^|&;<>$]+\.[A-Za-z]\w{0,9}$/.test(name) && !STARTS_PROGRAM.test(name);
}

/** A line as one would type it into a terminal. */
export const bareCommandIntent: Intent = (instruction, turn) =>
  (BARE.test(instruction) || OPERATED.test(mask(instruction).text)) && !instruction.trim().endsWith("?")
    ? runCommand(instruction.trim(), turn)
    : undefined;

function leftOver(rest: string): Step[] {
  const unheard = rest
    .replace(WISHES, "")
    .replace(WISHES, "")
    .replace(/^[\s,.;]+|[\s,.;]+$/g, "");
  return unheard === "" ? [] : say(`I did not understand: "${unheard}"`);
}

function run(command: string, turn: Turn): Step[] {
  return runCommand(command, turn) ?? say(`I can't run "${command}": no tool here runs commands.`);
}

export function runCommand(command: string, turn: Turn): Step[] | undefined {
  const tool = findTool(turn.tools, "execute");
  return tool && callTool(tool, commandArguments(tool, command, turn));
}

/** A path as one word of a command. */
export function quoteWord(path: string): string {
  return /^[\w@%+=:,./-]+$/.test(path) ? path : `'${path.replaceAll("'", "'\\''")}'`;
}

function commandArguments(tool: OfflineTool, command: string, turn: Turn): Record<string, unknown> {
  const names = Object.keys(tool.schema.properties ?? {});
  const name =
    names.find((key) => /^(command|cmd|script|input|code)$/i.test(key)) ?? tool.schema.required?.[0] ?? names[0];
  return name ? fillObject(tool.schema, "", "", turn, { [name]: command }) : { command };
}
