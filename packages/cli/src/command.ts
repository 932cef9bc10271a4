import { type ParseArgsOptionsConfig, parseArgs } from "node:util";
import { AppError } from "@cognition/contract";
import type { Context } from "./context.ts";

export interface Command {
  /** What follows the command's name. */
  readonly usage: string;
  readonly options: ParseArgsOptionsConfig;
  /** One line for each option, or group of them. */
  readonly help: readonly string[];
  /** How many arguments there are at least and at most. */
  readonly arguments: readonly [min: number, max: number];
  /** Gives the exit code. Throws what the user should read. */
  run(context: Context, args: Arguments): Promise<number>;
}

export interface Arguments {
  readonly positionals: readonly string[];
  text(name: string): string | undefined;
  list(name: string): readonly string[];
  flag(name: string): boolean;
}

export function parseArguments(command: Command, argv: readonly string[]): Arguments {
  const { values, positionals } = parse(command.options, argv);
  const [min, max] = command.arguments;
  if (positionals.length < min) throw misuse("an argument is missing");
  if (positionals.length > max) throw misuse(`there is no place for "${positionals[max]}"`);
  return {
    positionals,
    text: (name) => (typeof values[name] === "string" ? values[name] : undefined),
    list: (name) => (Array.isArray(values[name]) ? values[name].map(String) : []),
    flag: (name) => values[name] === true,
  };
}

function parse(options: ParseArgsOptionsConfig, argv: readonly string[]) {
  try {
    return parseArgs({ args: [...argv], options, allowPositionals: true, strict: true });
  } catch (cause) {
    throw misuse(cause instanceof Error ? cause.message : String(cause));
  }
}

export function misuse(message: string): AppError {
  return new AppError("validation_failed", message);
}

/** An option that must be a number. */
export function numberOf(args: Arguments, name: string): number | undefined {
  const text = args.text(name);
  if (text === undefined) return undefined;
  if (!/^\d{1,9}$/.test(text)) throw misuse(`--${name} must be a whole number, not "${text}"`);
  return Number(text);
}

/** `--scope user=ann --scope project=x` */
export function scopeOf(args: Arguments): Record<string, string> {
  const scope = new Map<string, string>();
  for (const pair of args.list("scope")) {
    const at = pair.indexOf("=");
    if (at < 1) throw misuse(`--scope must be key=value, not "${pair}"`);
    const key = pair.slice(0, at);
    if (scope.has(key)) throw misuse(`--scope names ${key} twice`);
    scope.set(key, pair.slice(at + 1));
  }
  return Object.fromEntries(scope);
}
