import { readList } from "../coerce-value.ts";
import { fillArguments } from "../fill-arguments.ts";
import { findTool } from "../find-tool.ts";
import { dropEnd, POLITE, unquote } from "../phrase.ts";
import { callTool, type Intent, type Step } from "../step.ts";
import type { Turn } from "../turn.ts";
import { USUAL_FOLDER } from "../workspace-path.ts";
import { callOrAsk } from "./call-or-ask.ts";

const IN_FILES =
  /\b(?:find|search(?: for)?|look for|grep(?: for)?|locate)\s+([\s\S]+?)\s+(?:in|inside|within|across|throughout)\s+(?:all\s+)?(?:of\s+)?(?:the\s+|my\s+|these\s+|this\s+|your\s+)?(?:files?|code|codebase|project|repo(?:sitory)?|workspace|source|directory|folder)\b/i;
const SEARCH_FOR =
  /\bsearch\s+(?:all\s+)?(?:the\s+|my\s+)?(?:files?|code|codebase|project|repo(?:sitory)?|workspace)\s+for\s+([\s\S]+)$/i;
const WHICH = /\b(?:which|what)\s+files?\s+(?:contains?|mentions?|have|has|includes?)\s+([\s\S]+)$/i;
const FILES_WITH =
  /\b(?:find|list|show|get|give|search for|look for|locate)\s+(?:me\s+)?(?:all\s+|every\s+|any\s+|each\s+)?(?:of\s+)?(?:the\s+)?files?\s+(?:containing|mentioning|including|with|(?:that|which)\s+(?:contains?|mentions?|includes?|ha(?:s|ve)))\s+([\s\S]+)$/i;
const OCCURRENCES =
  /\b(?:[Ff]ind|[Ss]how|[Ll]ist|[Ss]earch for|[Ll]ook for|[Ll]ocate)\s+(?:me\s+)?(?:all\s+|every\s+|any\s+)?(?:the\s+)?(?:(?:occurrences?|mentions?|uses|usages?|instances)\s+of\s+([\s\S]+)$|(TODO|FIXME|XXX)s?\b(?:\s+comments?)?\s*[.!?]?$)/;
const USED =
  /\bwhere(?:'s|\s+is|\s+are|\s+do(?:es)?)\s+(?:the\s+(?:word|text)\s+)?([\w.$-]+|["'`“][^"'`”]+["'`”])\s+(?:appears?|occurs?|used|defined|called|mentioned|declared)\b/i;
const WHERE =
  /\bwhere\s+([\w.$-]+)\s+(?:occurs?|appears?|shows up|(?:is|are)\s+(?:used|defined|called|mentioned|declared))\b/i;
/** "how often does line appear in log.txt?" */
const HOW_OFTEN =
  /\bhow\s+(?:often|many\s+times)\s+(?:(?:do(?:es)?|is|are)\s+)?(?:the\s+(?:word|text|string)\s+)?(\S[\s\S]*?)\s+(?:appears?|occurs?|mentioned|used|shows?\s+up)(\s+in\s+\S[\s\S]*?)?\s*[?.!]*$/i;
const THE_WORD =
  /^\s*(?:please\s+)?(?:find|locate|look\s+for)\s+(?:the\s+(?:word|text|string|phrase|term)\s+(\S[\s\S]*?)|(["'`“][^"'`”]+["'`”]))\s*[.!?]?$/i;
const ANY_LEFT = /\b(?:(?:is|are) there\s+(?:any|some|an?)|how many|count(?:\s+(?:all|the))*)\s+(TODO|FIXME|XXX)s?\b/i;
/** "all TODO comments in src" */
const MARKS_IN =
  /(?<=\b(?:find|show|list|locate|(?:search|look|grep) for)\s+(?:me\s+)?)(?:(?:all|every|any|the)\s+)*(TODO|FIXME|XXX)s?(?:\s+(?:comments?|notes?))?(?=\s+in\s)/;
const BY_NAME =
  /\b(?:find|list|show|search for|locate)\s+(?:me\s+)?(?:all\s+)?(?:the\s+)?(?:files?\s+)?(?:matching|named|called|like|with (?:the )?(?:name|pattern))?\s*["'`]?((?:\*|[\w./-]*\*)[^\s"'`]*)/i;

const PLACE = `["'\`]?(?:${USUAL_FOLDER}|[\\w@./-]+\\.[A-Za-z]\\w{0,9})["'\`]?`;
const IN_PATH = new RegExp(
  `\\b(?:find|search(?: for)?|look for|grep(?: for)?|locate)\\s+((?!files?\\b|all\\b|the file\\b)[\\s\\S]+?\\s+(?:in|inside|within)\\s+(?:the\\s+)?(?:file\\s+|folder\\s+|directory\\s+)?${PLACE}(?:(?:,\\s*|,?\\s+and\\s+)${PLACE})*)\\s*[.?!]?$`,
  "i",
);
/** "search README.md for License" */
const PLACE_FIRST = new RegExp(
  `\\b(?:search|look)\\s+(?:(?:in|into|inside|through)\\s+)?(?:the\\s+)?(?:(?:file|folder|directory)\\s+)?(${PLACE})\\s+for\\s+(\\S[\\s\\S]*)$`,
  "i",
);
/** "files that end in .py" */
const ENDING =
  /\bfiles?\s+(?:(?:that|which|whose names?)\s+)?(?:end(?:s|ing)?\s+(?:in|with)|with\s+(?:the\s+)?(?:extension|ending|suffix))\s+["'`]?\*?\.?(\w+)/i;
/** "all json and yaml files" */
const KINDS =
  /\b(?:find|list|show|locate|look for|get|search for)\s+(?:me\s+)?(?:all\s+)?(?:of\s+)?(?:the\s+)?((?:\.?\w+\s*,\s*)*\.?\w+)\s+(?:and|or)\s+(\.?\w+)\s+files\b/i;
/** "all markdown files", "every .ts file" */
const OF_KIND =
  /\b(?:find|list|show|search for|locate|which|look for|get|(?:is|are) there|do (?:i|we|you) have)\b[\s\S]*?(?:\.(\w+)|\b(\w+))\s+files?\b/i;
const EXTENSIONS: Readonly<Record<string, string>> = {
  markdown: "md",
  typescript: "ts",
  javascript: "js",
  python: "py",
  text: "txt",
  yaml: "y*ml",
  rust: "rs",
  shell: "sh",
};
const PLAIN_EXTENSION =
  /^(?:md|tsx?|jsx?|mjs|py|txt|json|ya?ml|toml|html|css|sh|go|rs|java|rb|c|cpp|sql|csv|xml|svg|png|pdf|log)$/i;
const BY_FULL_NAME =
  /\b(?:find|locate|look for|search for|where is|where's)\s+(?:all\s+|any\s+)?(?:the\s+|a\s+)?(?:files?\s+)?(?:named\s+|called\s+)?["'`]?([\w@-][\w@.-]*\.[A-Za-z]\w{0,9})["'`]?\s*[.?!]?$/i;

const PATH = "[\"'`]?([\\w@.-][\\w@./-]*\\.[A-Za-z]\\w{0,9})[\"'`]?";
const EXISTS: readonly RegExp[] = [
  `^\\s*(?:(?:is|are)\\s+there|do\\s+(?:i|we|you)\\s+have)\\s+(?:an?\\s+|any\\s+)?(?:files?\\s+)?(?:named\\s+|called\\s+)?${PATH}(?:\\s+(?:here|there))?\\s*[?.]*$`,
  `^\\s*(?:is|are)\\s+(?:the\\s+)?(?:file\\s+)?${PATH}\\s+(?:still\\s+|already\\s+)?(?:there|here|gone|missing|deleted)\\s*[?.]*$`,
  `\\b(?:does|do|if|whether)\\s+(?:the\\s+|a\\s+)?(?:file\\s+)?(?:named\\s+|called\\s+)?${PATH}\\s+(?:already\\s+)?exists?\\b`,
].map((form) => new RegExp(form, "i"));
/** "find app.ts in src" */
const NAME_IN = new RegExp(
  `^\\s*${POLITE}(?:find|locate|is|are|where(?:'s| is))\\s+(?:the\\s+)?(?:file\\s+)?${PATH}\\s+in\\s+["'\`]?(${USUAL_FOLDER})["'\`]?\\s*[?.!]*$`,
  "i",
);
/** Of a file that is mostly spoken of without its ending. */
const DOCUMENT_EXISTS =
  /^\s*(?:is there|do (?:i|we|you) have)\s+(?:an?\s+|any\s+|the\s+)?(readme|license|changelog)(?:\s+file)?(?:\s+(?:here|there))?\s*[?.]*$/i;

const EVERYWHERE = /\b(?:find|search(?: for)?|look for)\s+([\s\S]+?)\s+(?:everywhere|in here)\s*[.!?]?$/i;

/** "in the src folder" names a place as "in src/" does; "in this folder" does not. */
const IN_FOLDER =
  /\b(in|inside|within)\s+(?:the\s+)?(?!(?:this|that|the|current|same|my|your|whole|entire|root|workspace|project|working)\b)["'`]?([\w@.-]+)["'`]?\s+(?:folder|directory)\b/i;
/** Text in files of a kind: "find TODO in *.js files". */
const IN_KIND =
  /\b(?:find|search(?: for)?|look for|grep(?: for)?|locate)\s+(?:all\s+|every\s+|any\s+)?(?:the\s+)?(?!files?\b)(\S[\s\S]*?)\s+(?:in|inside|within|across)\s+(?:all\s+|every\s+|any\s+)?(?:the\s+)?(?:\*?\.)?(\w+)\s+files?\b/i;

/** "find the license": a single thing that nothing else is told of. */
const ONE_WORD = new RegExp(
  `^\\s*${POLITE}(?:find|locate|look for)\\s+(?:out\\s+)?(?:the\\s+|our\\s+|any\\s+)?(?!(?:me|it|that|this|them|out|something|files?|one)\\b)([\\p{L}\\p{N}_-]{3,})\\s*[.!?]?$`,
  "iu",
);

/** Text in files, or files by a pattern of their names. */
export const searchFilesIntent: Intent = (said, turn) => {
  const instruction = said.replace(IN_FOLDER, "$1 $2/").replace(PLACE_FIRST, placeLast).replace(MARKS_IN, "$1");
  const inKind = textInKind(instruction, turn);
  if (inKind) return inKind;
  const glob = findTool(turn.tools, "glob");
  const patterns = namePatterns(instruction);
  if (glob && patterns.length > 0)
    return patterns.flatMap((each) => callTool(glob, fillArguments(glob, `${glob.name} pattern="${each}"`, turn)));
  const grep = findTool(turn.tools, "grep");
  const [, counted, where = ""] = HOW_OFTEN.exec(instruction) ?? [];
  const words =
    (counted === undefined ? undefined : `${counted}${where}`) ??
    [
      WHERE,
      IN_PATH,
      IN_FILES,
      SEARCH_FOR,
      WHICH,
      FILES_WITH,
      OCCURRENCES,
      USED,
      ANY_LEFT,
      ONE_WORD,
      EVERYWHERE,
      THE_WORD,
    ]
      .flatMap((form) => form.exec(instruction)?.slice(1) ?? [])
      .find((found) => found !== undefined)
      // A word that is a verb as well ("print") would be taken for what to do.
      ?.replace(/^([\w.$-]+)(?=\s+in\s)/, '"$1"');
  return grep && words ? callOrAsk(grep, `${grep.name} ${words}`, turn) : undefined;
};

function placeLast(_: string, place: string, text: string): string {
  return `search for ${dropEnd(text)} in ${place}`;
}

function textInKind(instruction: string, turn: Turn): readonly Step[] | undefined {
  const grep = findTool(turn.tools, "grep");
  const [, text = "", kind = ""] = IN_KIND.exec(instruction) ?? [];
  const extension = extensionOf(kind);
  if (!grep || !extension) return undefined;
  return callTool(grep, fillArguments(grep, `${grep.name} pattern="${unquote(text)}" glob="*.${extension}"`, turn));
}

function extensionOf(word: string): string | undefined {
  return PLAIN_EXTENSION.test(word) ? word.toLowerCase() : EXTENSIONS[word.toLowerCase()];
}

function namePatterns(instruction: string): string[] {
  const [, first, last] = KINDS.exec(instruction) ?? [];
  const kinds = first && last ? readList(`${first}, ${last}`).map((word) => extensionOf(word.replace(/^\./, ""))) : [];
  if (kinds.length > 0 && kinds.every((kind) => kind !== undefined)) return kinds.map((kind) => `**/*.${kind}`);
  const pattern = onePattern(instruction);
  return pattern === undefined ? [] : [pattern];
}

function onePattern(instruction: string): string | undefined {
  const given = BY_NAME.exec(instruction)?.[1]?.replace(/[.,;!?]+$/, "");
  if (given) return given;
  const [, dotted, word = ""] = OF_KIND.exec(instruction) ?? [];
  const extension = ENDING.exec(instruction)?.[1] ?? dotted ?? extensionOf(word);
  if (extension) return `**/*.${extension}`;
  const name = [BY_FULL_NAME, ...EXISTS]
    .map((form) => form.exec(instruction)?.[1])
    .find((found) => found !== undefined);
  const [, file, folder] = NAME_IN.exec(instruction) ?? [];
  if (file && folder) return `${folder.replace(/\/+$/, "")}/**/${file}`;
  const document = DOCUMENT_EXISTS.exec(instruction)?.[1];
  if (document) return `**/${document.toUpperCase()}*`;
  return name?.includes("/") ? name : name && `**/${name}`;
}
