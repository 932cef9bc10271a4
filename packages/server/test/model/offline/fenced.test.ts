import { describe, expect, test } from "vitest";
import { ask } from "./ask.ts";
import { FILE_TOOLS } from "./tools.ts";

const write = (file_path: string, content: string) => ["write_file", { file_path, content }];
const FENCE = "```";

async function calls(request: string): Promise<unknown[]> {
  return (await ask(request, { tools: FILE_TOOLS })).calls.map(({ name, args }) => [name, args]);
}

describe("what stands in a fence is what the file holds, and what follows the fence is the next thing to do", () => {
  test.each<[string, unknown[]]>([
    [
      `Create hello.py:\n\n${FENCE}python\nprint("hi")\n\nmain()\n${FENCE}\n\nThen run it.`,
      [write("/hello.py", 'print("hi")\n\nmain()'), ["execute", { command: "python3 hello.py" }]],
    ],
    [
      `Make a file called \`data.json\` with this content:\n${FENCE}json\n{"a": 1}\n${FENCE}\nand then show it to me`,
      [write("/data.json", '{"a": 1}'), ["read_file", { file_path: "/data.json" }]],
    ],
    [`Please write the following to query.sql\n\n${FENCE}sql\nSELECT 1;\n${FENCE}`, [write("/query.sql", "SELECT 1;")]],
    [`Save this code:\n${FENCE}py\nprint(1)\n${FENCE}\nas hello.py`, [write("/hello.py", "print(1)")]],
    [
      `Create a.sh with\n${FENCE}\necho \`date\`\n${FENCE}\nCreate b.txt containing x`,
      [write("/a.sh", "echo `date`"), write("/b.txt", "x")],
    ],
    [
      `Write a file config.toml:\n\n${FENCE}toml\nb = 1\n${FENCE}\n\nand a file main.py:\n\n${FENCE}python\nx = 1\n${FENCE}`,
      [write("/config.toml", "b = 1"), write("/main.py", "x = 1")],
    ],
    [
      `Please create two files.\n\nFirst, \`a.py\`:\n${FENCE}\nx = 1\n${FENCE}\n\nSecond, \`b.py\`:\n${FENCE}\ny = 2\n${FENCE}`,
      [write("/a.py", "x = 1"), write("/b.py", "y = 2")],
    ],
  ])("%s", async (request, expected) => expect(await calls(request)).toEqual(expected));
});
