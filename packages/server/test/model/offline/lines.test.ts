import { describe, expect, test } from "vitest";
import { ask } from "./ask.ts";
import { FILE_TOOLS } from "./tools.ts";

const SHOWN = "@@ lines 1-4 of 4 @@\none\ntwo\nthree\nfour";

async function calls(sentence: string): Promise<unknown[]> {
  return (await ask(sentence, { tools: FILE_TOOLS, returns: [SHOWN] })).calls.map(({ name, args }) => [name, args]);
}

describe("those lines are read that were asked for", () => {
  const read = (range: object) => ["read_file", { file_path: "/a.txt", ...range }];
  test.each<[string, unknown]>([
    ["Show me lines 2 to 3 of a.txt", read({ offset: 1, limit: 2 })],
    ["read lines 2-4 in a.txt", read({ offset: 1, limit: 3 })],
    ["Print the second line of a.txt", read({ offset: 1, limit: 1 })],
    ["What is on line 3 of a.txt?", read({ offset: 2, limit: 1 })],
    ["Read a.txt from line 2 on", read({ offset: 1 })],
    ["Read a.txt up to line 2", read({ limit: 2 })],
    ["Read the first two lines of a.txt", read({ limit: 2 })],
    ["show the 3rd line of a.txt please", read({ offset: 2, limit: 1 })],
    ["Show me the last 2 lines of a.txt", ["execute", { command: "tail -n 2 a.txt" }]],
    ["What's the last line of a.txt?", ["execute", { command: "tail -n 1 a.txt" }]],
  ])("%s", async (sentence, expected) => expect(await calls(sentence)).toEqual([expected]));
});

describe("those lines are changed that were named", () => {
  const edited = async (sentence: string) => {
    const [, edit] = await calls(sentence);
    const { old_string, new_string } = (edit as [string, { old_string: string; new_string: string }])[1];
    return "one\ntwo\nthree\nfour".replace(old_string, new_string).split("\n").join(" ");
  };

  test.each([
    ["Change the first line of a.txt to hi", "hi two three four"],
    ["Replace line 2 in a.txt with TWO", "one TWO three four"],
    ["In a.txt, replace the last line with end", "one two three end"],
    ["Set a.txt's third line to 'x y'", "one two x y four"],
    ["Replace lines 2-3 of a.txt with mid", "one mid four"],
    ["Delete lines 1 to 2 of a.txt", "three four"],
    ["Remove the last two lines from a.txt", "one two"],
    ["Delete the second line of a.txt", "one three four"],
    ["Delete a.txt's last line", "one two three"],
    ['Add "zero" as the first line of a.txt', "zero one two three four"],
    ['Insert "mid" at line 3 of a.txt', "one two mid three four"],
    ['Add "end" as the last line of a.txt', "one two three four end"],
    ["Insert the line mid between two and three in a.txt", "one two mid three four"],
    ['Insert "mid" between lines 1 and 2 of a.txt', "one mid two three four"],
    ["append the word five on a new line at the end of a.txt", "one two three four five"],
  ])("%s", async (sentence, after) => expect(await edited(sentence)).toBe(after));

  test.each([
    ["Delete the first 10 lines of a.txt", "I left a.txt as it is"],
    ["Replace line 7 of a.txt with x", "I left a.txt as it is"],
    ['Insert "x" at line 9 of a.txt', "I left a.txt as it is"],
    ["Insert x between two and four in a.txt", "I left a.txt as it is"],
    ["Remove all empty lines from a.txt", "name the lines that are to go"],
    ["Add a heading to a.txt", "Tell me what to add"],
    ["Replace TODO with DONE in all files", "I edit one file at a time"],
  ])("none, where there is no such line: %s", async (sentence, answer) => {
    const { calls: made, text } = await ask(sentence, { tools: FILE_TOOLS, returns: [SHOWN] });
    expect(made.filter(({ name }) => name !== "read_file")).toEqual([]);
    expect(text).toContain(answer);
  });
});
