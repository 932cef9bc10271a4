import { fillObject } from "../fill-object.ts";
import { findTool } from "../find-tool.ts";
import { dropEnd, unquote } from "../phrase.ts";
import { callTool, type Intent, say } from "../step.ts";
import { findPath, toToolPath } from "../workspace-path.ts";

const VERB = /\b(?:create|make|write|save|put|store|add|generate|produce|touch|new file)\b/i;
const CONTENT =
  /\b(?:containing|that contains?|which contains?|contain|with (?:the |this |following )*(?:contents?|text|line|lines|word|words|body)|whose contents? (?:is|are)|(?:that|which) (?:says|reads)|saying|reading|holding|and (?:write|put) (?:in|into|to) it|with)\b(?:\s+(?:exactly|only|just|this|the following))*\s*(?:of|is|being)?\s*([\s\S]*)$/i;
/** "write hello to notes.txt": the content stands between the verb and the place. */
const INTO =
  /\b(?:write|save|put|store|add|append)\s+([\s\S]+?)\s+(?:to|into|in|as|inside)\s+(?:a\s+|the\s+|an\s+|new\s+)*(?:file\s+)?(?:named\s+|called\s+)?["'`]?[\w@./-]+["'`]?\s*$/i;
const NAME = "the-file.txt";
const COLON = /(:\s*\n?[\s\S]+)$/;

/** A file to make, with what it is to hold. Without a word about that it is empty. */
export const writeFileIntent: Intent = (instruction, turn) => {
  const path = findPath(instruction);
  if (path === undefined || !VERB.test(instruction) || /\b(?:todo list|replace)\b/i.test(instruction)) return undefined;
  const tool = findTool(turn.tools, "write");
  if (!tool) return say(`I can't write ${path}: no tool here writes files.`);
  const properties = tool.schema.properties ?? {};
  const names = Object.keys(properties);
  const place = names.find((key) => /path|file|name/i.test(key)) ?? "file_path";
  const content = names.find((key) => key !== place && /content|text|data|body/i.test(key)) ?? "content";
  const args = { [place]: toToolPath(path, properties[place], turn), [content]: readContent(instruction, path) };
  return callTool(tool, fillObject(tool.schema, "", "", turn, args));
};

function readContent(said: string, path: string): string {
  // The patterns below know names of one plain word.
  const instruction = said.replace(path, () => NAME);
  const at = instruction.indexOf(NAME) + NAME.length;
  return /\bempty\b/i.test(instruction) ? "" : clean(findContent(instruction, instruction.slice(at)));
}

function findContent(instruction: string, afterPath: string): string {
  const after = CONTENT.exec(afterPath)?.[1] ?? COLON.exec(afterPath)?.[1];
  if (after !== undefined) return after;
  const between = INTO.exec(dropEnd(instruction))?.[1];
  if (between !== undefined && !/^(?:a|the|an)\s+(?:new\s+)?file$/i.test(between)) return between;
  const before = CONTENT.exec(instruction)?.[1] ?? "";
  // "containing hello in notes.txt": the place is not part of the content.
  return before.replace(
    /\s+(?:to|into|in|as|inside)\s+(?:a\s+|the\s+)?(?:file\s+)?(?:named\s+|called\s+)?["'`]?[\w@./-]+["'`]?\s*\.?$/i,
    "",
  );
}

function clean(said: string): string {
  // After a colon stands the content itself, whatever its words.
  const text = /^\s*:/.test(said)
    ? said.replace(/^\s*:\s*/, "")
    : said
        .replace(/^(?:exactly|only|just|simply)\s+/i, "")
        .replace(
          /^(?:the\s+)?(?:single\s+)?(?:words?|text|line|phrase|sentence|string|content)\s*(?::\s*|\s+)(?=\S)/i,
          "",
        );
  return /^["'“`]/.test(text.trim()) || text.includes("\n")
    ? unquote(text.trim().replace(/(?<=["'”`])[.!?]$/, ""))
    : dropEnd(text);
}
