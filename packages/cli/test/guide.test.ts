import { readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import { parseArguments } from "../src/command.ts";
import { COMMANDS } from "../src/commands.ts";

const guides = join(import.meta.dirname, "../../../docs/guide");

/** Every line of a shell block that calls the command, as its arguments. */
function commandLines(file: string): string[][] {
  const blocks = readFileSync(join(guides, file), "utf8").matchAll(/```sh\n([\s\S]*?)```/g);
  const lines = [...blocks].flatMap(([, block = ""]) => block.split("\n")).flatMap((line) => line.split(" | "));
  return lines
    .filter((line) => line.startsWith("cognition "))
    .map((line) => [...line.matchAll(/"([^"]*)"|(\S+)/g)].map(([, quoted, plain]) => quoted ?? plain ?? "").slice(1));
}

test.each(["cli.md", "operations.md"])("every command in %s is one that the program takes", async (file) => {
  const lines = commandLines(file);
  expect(lines.length).toBeGreaterThan(1);
  for (const [name = "", ...rest] of lines) {
    const entry = COMMANDS[name];
    if (!entry) throw new Error(`${file} calls "${name}"`);
    const { command } = await entry.load();
    expect(() => parseArguments(command, rest), `${name} ${rest.join(" ")}`).not.toThrow();
  }
});

test("cli.md tells of every command", () => {
  const text = readFileSync(join(guides, "cli.md"), "utf8");
  expect(Object.keys(COMMANDS).filter((name) => !text.includes(`cognition ${name}`))).toEqual([]);
});
