import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, it, onTestFinished } from "vitest";
import { calls, says, scriptedProvider } from "./scripted-provider.ts";
import { dataOf, say, startRuntime } from "./started-runtime.ts";

const LONG = Array.from({ length: 1_200 }, (_, at) => `line ${at + 1}\n`).join("");

it.each<[string, string, object, object]>([
  ["one line", "hello\n", {}, { outcome: "ok", output: "@@ lines 1-1 of 1 @@\nhello" }],
  ["no end of its last line", "a\nb", {}, { outcome: "ok", output: "@@ lines 1-2 of 2 @@\na\nb" }],
  [
    "more lines than are asked for",
    LONG,
    { offset: 10, limit: 2 },
    { outcome: "ok", output: "@@ lines 11-12 of 1200 | next offset 12 @@\nline 11\nline 12" },
  ],
  [
    "fewer lines than are asked for",
    LONG,
    { offset: 1_200, limit: 100 },
    { outcome: "error", output: expect.stringContaining("/a.txt has 1200 lines") },
  ],
])("of a file with %s the model is told how many there are, and where to go on", async (_name, text, args, result) => {
  const read = calls("call_1", "read_file", { file_path: "/a.txt", ...args });
  const { server, options } = await scriptedProvider(read, says("Done"));
  onTestFinished(() => server[Symbol.asyncDispose]());
  const started = await startRuntime(options);
  mkdirSync(started.folder, { recursive: true });
  writeFileSync(join(started.folder, "a.txt"), text);
  expect(dataOf(await say(started, "Go"), "tool_result")).toMatchObject([result]);
});
