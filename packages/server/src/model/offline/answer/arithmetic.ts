/** The parts of a sum, as they may be written or said. */
const TOKEN =
  /\s*(\d+(?:\.\d+)?|%\s*of\b|[-+*/^()×÷%]|x(?=\s*[\d(])|plus\b|minus\b|times\b|divided by\b|multiplied by\b|to the power of\b)/iy;
const SIGNS: Readonly<Record<string, string>> = {
  "×": "*",
  x: "*",
  times: "*",
  "multiplied by": "*",
  "÷": "/",
  "divided by": "/",
  plus: "+",
  minus: "-",
  "to the power of": "^",
};
const OPERATIONS: Readonly<Record<string, (a: number, b: number) => number>> = {
  "+": (a, b) => a + b,
  "-": (a, b) => a - b,
  "*": (a, b) => a * b,
  "/": (a, b) => a / b,
  "^": (a, b) => a ** b,
};
/** What binds least comes first. */
const LEVELS = [["+", "-"], ["*", "/"], ["^"]];
const MAX_TOKENS = 100;
const DIGITS = 12;

/** The sum in a text with what it comes to; undefined where there is none, or one that can't be read to its end. */
export function calculate(text: string): string | undefined {
  const start = /(?<![\w.])[-(\s]*\d/.exec(text);
  if (!start) return undefined;
  const { tokens, end } = readTokens(text, start.index);
  if (tokens.length < 3 || tokens.length > MAX_TOKENS) return undefined;
  const rest = [...tokens];
  const value = readSum(rest, 0);
  if (value === undefined || rest.length > 0 || !Number.isFinite(value)) return undefined;
  return `${text.slice(start.index, end).trim()} = ${Number(value.toPrecision(DIGITS))}`;
}

function readTokens(text: string, from: number): { tokens: string[]; end: number } {
  const tokens: string[] = [];
  TOKEN.lastIndex = from;
  let end = from;
  for (let found = TOKEN.exec(text); found?.[1]; found = TOKEN.exec(text)) {
    const token = found[1].toLowerCase();
    tokens.push(...(/^%\s*of$/.test(token) ? ["%", "*"] : [SIGNS[token] ?? token]));
    end = TOKEN.lastIndex;
  }
  return { tokens, end };
}

function readSum(tokens: string[], level: number): number | undefined {
  const signs = LEVELS[level];
  if (!signs) return readNumber(tokens);
  let value = readSum(tokens, level + 1);
  while (value !== undefined && signs.includes(tokens[0] ?? "")) {
    const operation = OPERATIONS[tokens.shift() ?? ""];
    const next = readSum(tokens, level + 1);
    value = next === undefined ? undefined : operation?.(value, next);
  }
  return value;
}

function readNumber(tokens: string[]): number | undefined {
  const token = tokens.shift() ?? "";
  if (token === "-") {
    const value = readNumber(tokens);
    return value === undefined ? undefined : -value;
  }
  const value = token === "(" ? readSum(tokens, 0) : /^\d/.test(token) ? Number(token) : undefined;
  if (token === "(" && tokens.shift() !== ")") return undefined;
  if (tokens[0] !== "%" || value === undefined) return value;
  tokens.shift();
  return value / 100;
}
