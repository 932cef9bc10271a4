const LEVELS: Record<string, string> = { debug: "debug", info: "info ", warn: "warn ", error: "error", fatal: "fatal" };

/** What moves a terminal's cursor, sets its title or turns the direction of text: others may have put it into an error. */
// biome-ignore lint/suspicious/noControlCharactersInRegex: those are what is made visible
const CONTROLS = /[\0-\x08\x0b-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069]/g;

/** A JSON line as a person reads it: time, level, message, then what else is known. */
export function consoleLine(line: string): string {
  return wholeLine(line).replace(CONTROLS, (char) => `\\u${char.charCodeAt(0).toString(16).padStart(4, "0")}`);
}

function wholeLine(line: string): string {
  const { time, level, msg, error, ...fields } = JSON.parse(line) as Record<string, unknown>;
  const clock = String(time).slice(11, 23);
  const known = Object.entries(fields).map(([key, value]) => `${key}=${plain(value)}`);
  const head = [clock, LEVELS[String(level)] ?? String(level), msg, ...known].filter((part) => part !== undefined);
  return `${head.join(" ")}${error === undefined ? "" : `\n${describe(error)}`}\n`;
}

function plain(value: unknown): string {
  return typeof value === "string" && /^[^\s"=]+$/.test(value) ? value : JSON.stringify(value);
}

interface LoggedError {
  readonly type?: string;
  readonly code?: string;
  readonly stack?: string;
  readonly message?: string;
  readonly cause?: unknown;
}

/** What has a code says in words what it is; where in the program that was found helps nobody, but with a fault of its own. */
function describe(error: unknown): string {
  const { type, code, stack, message, cause } = (error ?? {}) as LoggedError;
  const isFault = type !== "AppError" || code === "internal";
  const own = String((isFault ? stack : `${code}: ${message}`) ?? message ?? JSON.stringify(error)).replace(
    /^/gm,
    "    ",
  );
  return cause === undefined ? own : `${own}\n    caused by\n${describe(cause)}`;
}
