import { describe, expect, test } from "vitest";
import { ask } from "./ask.ts";
import { FILE_TOOLS } from "./tools.ts";

const PACKAGE = '{"name": "x", "version": "1.0.0"}';
const CONFIG = '{\n  "port": 8080,\n  "debug": false\n}';
const YAML = "port: 8080 # web\ntitle: Hello, world";

/** What the file holds after the first change that the request makes to it. */
async function changed(request: string, text: string): Promise<string> {
  const { calls } = await ask(request, { tools: FILE_TOOLS, returns: [text] });
  const edit = calls.find(({ name }) => name === "edit_file")?.args as
    | { old_string: string; new_string: string }
    | undefined;
  return edit ? text.replace(edit.old_string, () => edit.new_string) : text;
}

describe("a value is set where its name stands, and the name stays", () => {
  test.each([
    ["update the version in package.json to 2.0.0", PACKAGE, '{"name": "x", "version": "2.0.0"}'],
    ["bump the version in package.json from 1.0.0 to 1.1.0", PACKAGE, '{"name": "x", "version": "1.1.0"}'],
    ["set debug to true in config.json", CONFIG, '{\n  "port": 8080,\n  "debug": true\n}'],
    ['set "port" in config.json to 9090', CONFIG, '{\n  "port": 9090,\n  "debug": false\n}'],
    ["set port to high in config.json", CONFIG, '{\n  "port": "high",\n  "debug": false\n}'],
    ["change port from 8080 to 9090 in config.yaml", YAML, "port: 9090 # web\ntitle: Hello, world"],
    ["set the title in config.yaml to Bye, all", YAML, "port: 8080 # web\ntitle: Bye, all"],
    ['In .env, set NAME to "z"', 'PORT=1\nNAME="x y"', 'PORT=1\nNAME="z"'],
    ["set NAME=ada in .env", "PORT=1\nNAME=x", "PORT=1\nNAME=ada"],
    ["change the greeting from hello to bye in a.txt", "hello world", "bye world"],
    ["in config.json change 8080 to 9090", CONFIG, '{\n  "port": 9090,\n  "debug": false\n}'],
    ["set port to 9090 and debug to true in config.json", CONFIG, '{\n  "port": 9090,\n  "debug": false\n}'],
  ])("%s", async (request, text, expected) => expect(await changed(request, text)).toBe(expected));

  test.each([
    ["set color to blue in notes.txt", "hello"],
    ["change port from 1 to 2 in config.yaml", YAML],
    ["set a to 2 in x.ini", "[one]\na = 1\n[two]\na = 1"],
  ])("and where it is not there, or which one is meant can't be told, nothing is: %s", async (request, text) => {
    const { calls, text: said } = await ask(request, { tools: FILE_TOOLS, returns: [text] });
    expect(calls.map(({ name }) => name)).toEqual(["read_file"]);
    expect(said).toContain("as it is");
  });

  test.each(['add a key "name" with value "x" to config.json', "append hello to config.json"])(
    "JSON is not added to as if it were lines: %s",
    async (request) => {
      const { calls, text } = await ask(request, { tools: FILE_TOOLS, returns: [CONFIG] });
      expect(calls).toEqual([]);
      expect(text).toContain("as it is");
    },
  );

  test("a file's name is no value in it", async () => {
    const { calls } = await ask("change the name of config.json to settings.json", { tools: FILE_TOOLS });
    expect(calls).toEqual([{ name: "execute", args: { command: "mv config.json settings.json" } }]);
  });
});
