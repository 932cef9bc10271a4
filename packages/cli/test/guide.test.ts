import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { parseArguments } from "../src/command.ts";
import { COMMANDS } from "../src/commands.ts";

const guides = join(import.meta.dirname, "../../../docs/guide");

/** Every line of code, in a shell block or indented, that calls the command, as its arguments. */
function commandLines(file: string): string[][] {
  const text = readFileSync(join(guides, file), "utf8");
  const blocks = [...text.matchAll(/```(?:sh|bash)\n([\s\S]*?)```/g)].map(([, block = ""]) => block);
  const indented = text.replaceAll(/```[\s\S]*?```/g, "").matchAll(/^ {4}(.*)$/gm);
  const lines = [...blocks.flatMap((block) => block.split("\n")), ...[...indented].map(([, line = ""]) => line)];
  return lines
    .flatMap((line) => line.replace(/ +# .*$/, "").split(" | "))
    .map((line) => line.replace(/^([A-Z_]+=\S* )+/, ""))
    .filter((line) => line.startsWith("cognition "))
    .map((line) => [...line.matchAll(/"([^"]*)"|(\S+)/g)].map(([, quoted, plain]) => quoted ?? plain ?? "").slice(1));
}

const lines = readdirSync(guides)
  .filter((file) => file.endsWith(".md"))
  .flatMap((file) => commandLines(file).map((words) => ({ file, words })));

test("the guides' commands are found", () => {
  const pages = new Set(lines.map(({ file }) => file));
  expect([...pages]).toEqual(expect.arrayContaining(["access.md", "cli.md", "operations.md", "sandboxes.md"]));
});

test.each(lines)("$file: the program takes $words", async ({ words: [name = "", ...rest] }) => {
  const entry = COMMANDS[name];
  if (!entry) throw new Error(`there is no command "${name}"`);
  const { command } = await entry.load();
  expect(() => parseArguments(command, rest)).not.toThrow();
});

test("cli.md tells of every command", () => {
  const text = readFileSync(join(guides, "cli.md"), "utf8");
  expect(Object.keys(COMMANDS).filter((name) => !text.includes(`cognition ${name}`))).toEqual([]);
});
