import { fillArguments } from "../fill-arguments.ts";
import { findTool } from "../find-tool.ts";
import { callTool, type Intent } from "../step.ts";

const IN_FILES =
  /\b(?:find|search(?: for)?|look for|grep(?: for)?|locate)\s+([\s\S]+?)\s+(?:in|inside|within|across|throughout)\s+(?:all\s+)?(?:of\s+)?(?:the\s+|my\s+|these\s+|this\s+|your\s+)?(?:files?|code|codebase|project|repo(?:sitory)?|workspace|source|directory|folder)\b/i;
const SEARCH_FOR =
  /\bsearch\s+(?:all\s+)?(?:the\s+|my\s+)?(?:files?|code|codebase|project|repo(?:sitory)?|workspace)\s+for\s+([\s\S]+)$/i;
const WHICH = /\b(?:which|what)\s+files?\s+(?:contains?|mentions?|have|has|includes?)\s+([\s\S]+)$/i;
const OCCURRENCES =
  /\b(?:[Ff]ind|[Ss]how|[Ll]ist|[Ss]earch for|[Ll]ook for|[Ll]ocate)\s+(?:me\s+)?(?:all\s+|every\s+|any\s+)?(?:the\s+)?(?:(?:occurrences?|mentions?|uses|usages?|instances)\s+of\s+([\s\S]+)$|((?:TODO|FIXME|XXX)s?)\b(?:\s+comments?)?\s*[.!?]?$)/;
const USED = /\bwhere\s+(?:is|are)\s+([\w.$-]+)\s+(?:used|defined|called|mentioned|declared)\b/i;
const BY_NAME =
  /\b(?:find|list|show|search for|locate)\s+(?:me\s+)?(?:all\s+)?(?:the\s+)?(?:files?\s+)?(?:matching|named|called|like|with (?:the )?(?:name|pattern))?\s*["'`]?((?:\*|[\w./-]*\*)[^\s"'`]*)/i;

/** Text in files, or files by a pattern of their names. */
export const searchFilesIntent: Intent = (instruction, turn) => {
  const glob = findTool(turn.tools, "glob");
  const pattern = BY_NAME.exec(instruction)?.[1]?.replace(/[.,;!?]+$/, "");
  if (glob && pattern) return callTool(glob, fillArguments(glob, `${glob.name} pattern="${pattern}"`, turn));
  const grep = findTool(turn.tools, "grep");
  const words = [IN_FILES, SEARCH_FOR, WHICH, OCCURRENCES, USED]
    .flatMap((form) => form.exec(instruction)?.slice(1) ?? [])
    .find((found) => found !== undefined);
  return grep && words ? callTool(grep, fillArguments(grep, `${grep.name} ${words}`, turn)) : undefined;
};
