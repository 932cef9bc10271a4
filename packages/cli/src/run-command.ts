import { isAppError } from "@cognition/contract";
import { type Command, parseArguments } from "./command.ts";
import { COMMANDS } from "./commands.ts";
import type { Context } from "./context.ts";
import { EXIT, exitCodeOf } from "./exit-code.ts";
import { errorText } from "./terminal/error-text.ts";
import { VERSION } from "./version.ts";

/** Runs what the command line says; gives the exit code. */
export async function runCommand(argv: readonly string[], context: Context): Promise<number> {
  const [name, ...rest] = argv;
  if (name === undefined || ["help", "--help", "-h"].includes(name)) return overview(context, name === undefined);
  if (["version", "--version", "-v"].includes(name)) return print(context, `${VERSION}\n`);
  const entry = Object.hasOwn(COMMANDS, name) ? COMMANDS[name] : undefined;
  if (!entry) {
    context.errors.write(`cognition: there is no command "${name}". \`cognition help\` lists them.\n`);
    return EXIT.usage;
  }
  const { command } = await entry.load();
  if (rest.includes("--help") || rest.includes("-h")) return print(context, describe(name, entry.summary, command));
  try {
    return await command.run(context, parseArguments(command, rest));
  } catch (error) {
    context.errors.write(`cognition ${name}: ${errorText(error)}\n`);
    if (isAppError(error, "validation_failed")) context.errors.write(`Usage: cognition ${name} ${command.usage}\n`);
    return exitCodeOf(error);
  }
}

function overview(context: Context, missing: boolean): number {
  const width = Math.max(...Object.keys(COMMANDS).map((name) => name.length));
  const lines = Object.entries(COMMANDS).map(([name, { summary }]) => `  ${name.padEnd(width)}  ${summary}`);
  const text = `Usage: cognition <command>\n\n${lines.join("\n")}\n\n\`cognition <command> --help\` tells more.\n`;
  (missing ? context.errors : context.output).write(text);
  return missing ? EXIT.usage : EXIT.ok;
}

function describe(name: string, summary: string, { usage, help }: Command): string {
  const lines = help.map((line) => `  ${line}`);
  return `${summary}\n\nUsage: cognition ${name} ${usage}\n\n${lines.join("\n")}\n`;
}

function print(context: Context, text: string): number {
  context.output.write(text);
  return EXIT.ok;
}
