import { AppError } from "@cognition/contract";

/**
 * Splits a command as a POSIX shell would (quotes, escapes, comments, line continuations) into the arguments of one
 * program. What only a shell can carry out is refused, `not_supported`, rather than passed on as text: a `|` that became an
 * argument would do something that nobody meant.
 */
export function splitCommand(command: string): string[] {
  const reader: Reader = { text: command, at: 0, words: [], word: undefined };
  while (reader.at < command.length) readNext(reader);
  endWord(reader);
  return reader.words;
}

interface Reader {
  readonly text: string;
  at: number;
  readonly words: string[];
  /** Undefined between words: an empty pair of quotes is a word too. */
  word: string | undefined;
}

const SUBSTITUTION = "a command substitution (`)";
const OPERATORS: Readonly<Record<string, string>> = {
  "|": "a pipe or list (|)",
  "&": "a list or background command (&)",
  ";": "a list of commands (;)",
  "<": "a redirection (<)",
  ">": "a redirection (>)",
  "(": "a subshell (()",
  ")": "a subshell ())",
  "`": SUBSTITUTION,
  "*": "a file name pattern (*)",
  "?": "a file name pattern (?)",
};
/** What a backslash keeps its meaning before, inside double quotes. */
const ESCAPED_IN_QUOTES = new Set(["$", "`", '"', "\\"]);
const ASSIGNMENT = /^[A-Za-z_][A-Za-z0-9_]*=/;
const RESERVED = new Set([
  "!",
  "{",
  "}",
  "case",
  "do",
  "done",
  "elif",
  "else",
  "esac",
  "fi",
  "for",
  "if",
  "then",
  "until",
  "while",
]);

const READERS: Readonly<Record<string, (reader: Reader) => void>> = {
  "'": readSingleQuotes,
  '"': readDoubleQuotes,
  "\\": readEscape,
  "\n": readNewline,
  " ": (reader) => endWord(reader, 1),
  "\t": (reader) => endWord(reader, 1),
};

function readNext(reader: Reader): void {
  const char = reader.text[reader.at] ?? "";
  const read = READERS[char];
  if (read) read(reader);
  else if (char === "#" && reader.word === undefined) skipComment(reader);
  else {
    checkUnquoted(reader, char);
    append(reader, char, 1);
  }
}

function checkUnquoted(reader: Reader, char: string): void {
  const operator = OPERATORS[char];
  if (operator) throw needsShell(operator);
  if (char === "$") checkDollar(reader);
  if (char === "~" && reader.word === undefined) throw needsShell("a home folder (~)");
  if (char === "[" && /^\[[^\s]*\]/.test(reader.text.slice(reader.at))) throw needsShell("a file name pattern ([…])");
  if (char === "=" && reader.words.length === 0 && ASSIGNMENT.test(`${reader.word ?? ""}=`))
    throw needsShell(`an assignment (${reader.word}=)`, " To set a variable for one program: env NAME=value program.");
}

function readSingleQuotes(reader: Reader): void {
  const end = reader.text.indexOf("'", reader.at + 1);
  if (end < 0) throw unclosed("'");
  append(reader, reader.text.slice(reader.at + 1, end), end + 1 - reader.at);
}

function readDoubleQuotes(reader: Reader): void {
  append(reader, "", 1);
  while (reader.text[reader.at] !== '"') readQuotedCharacter(reader);
  append(reader, "", 1);
}

function readQuotedCharacter(reader: Reader): void {
  const [char, next = ""] = [reader.text[reader.at], reader.text[reader.at + 1]];
  if (char === undefined) throw unclosed('"');
  if (char === "`") throw needsShell(SUBSTITUTION);
  if (char === "$") checkDollar(reader);
  if (char === "\\" && next === "\n") append(reader, "", 2);
  else if (char === "\\" && ESCAPED_IN_QUOTES.has(next)) append(reader, next, 2);
  else append(reader, char, 1);
}

function readEscape(reader: Reader): void {
  const next = reader.text[reader.at + 1];
  if (next === "\n") reader.at += 2;
  else append(reader, next ?? "\\", 2);
}

function readNewline(reader: Reader): void {
  endWord(reader, 1);
  const rest = reader.text.slice(reader.at);
  if (reader.words.length > 0 && !/^(\s|#[^\n]*(\n|$))*$/.test(rest))
    throw needsShell("several commands (a line break)");
}

function skipComment(reader: Reader): void {
  const end = reader.text.indexOf("\n", reader.at);
  reader.at = end < 0 ? reader.text.length : end;
}

/** A dollar that no name, number, bracket or special parameter follows stands for itself. */
function checkDollar({ text, at }: Reader): void {
  const next = text[at + 1] ?? "";
  if (next === "(") throw needsShell("a command substitution ($())");
  if (/[A-Za-z0-9_{@*#?$!-]/.test(next)) throw needsShell(`a variable ($${next})`);
}

function append(reader: Reader, text: string, length: number): void {
  reader.word = (reader.word ?? "") + text;
  reader.at += length;
}

function endWord(reader: Reader, length = 0): void {
  reader.at += length;
  if (reader.word === undefined) return;
  // Quoted, such a word would be a program's name; but nobody calls one that.
  if (reader.words.length === 0 && RESERVED.has(reader.word)) throw needsShell(`a shell construct (${reader.word})`);
  reader.words.push(reader.word);
  reader.word = undefined;
}

function needsShell(what: string, hint = ""): AppError {
  return new AppError(
    "not_supported",
    `The command has ${what}, which needs a shell, and the local sandbox starts programs without one; nothing was run. Run one program at a time, quote what is meant as text, or set COGNITION_SANDBOX_BACKEND to bubblewrap or docker, which have a shell.${hint}`,
    { details: { needs: "shell", backends: ["bubblewrap", "docker"] } },
  );
}

function unclosed(quote: string): AppError {
  return new AppError("validation_failed", `The command has a ${quote} that is not closed. Nothing was run.`);
}
