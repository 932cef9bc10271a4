import { describe, expect, test } from "vitest";
import { ask } from "./ask.ts";
import { FILE_TOOLS } from "./tools.ts";

async function calls(request: string): Promise<unknown[]> {
  return (await ask(request, { tools: FILE_TOOLS })).calls.map(({ name, args }) => [name, args]);
}

describe("a slip of the pen", () => {
  test.each<[string, unknown[]]>([
    ["plz lst the fiels", [["ls", { path: "/" }]]],
    ["show me teh files", [["ls", { path: "/" }]]],
    ["raed notes.txt", [["read_file", { file_path: "/notes.txt" }]]],
    ["delte a.txt", [["delete", { file_path: "/a.txt" }]]],
    ["craete a file nmaed x.txt contianing hi", [["write_file", { file_path: "/x.txt", content: "hi" }]]],
    ["Creat x.txt wiht hello wrold", [["write_file", { file_path: "/x.txt", content: "hello wrold" }]]],
    ["serach for TODO in src", [["grep", { pattern: "TODO", path: "/src" }]]],
  ])("is mended: %s", async (request, expected) => expect(await calls(request)).toEqual(expected));

  test.each(["deleted a.txt", "I moved a.txt", "who deleted a.txt?", "relate a.txt", "Deleter a.txt"])(
    "is not seen where a word is another one: %s",
    async (request) => expect(await calls(request)).toEqual([]),
  );
});
