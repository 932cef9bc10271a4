import { execFile } from "node:child_process";
import { join } from "node:path";
import { promisify } from "node:util";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { createToolFiles } from "../../src/tool/tool-files.ts";
import { createToolRegistry } from "../../src/tool/tool-registry.ts";
import { nativeImport } from "./native-import.ts";
import { createWorkspace, type Workspace } from "./workspace.ts";

let workspace: Workspace;

beforeEach(async () => {
  workspace = await createWorkspace();
});
afterEach(async () => {
  await workspace.dispose();
});

const open = () => createToolFiles({ root: workspace.root, importModule: nativeImport });

/** As a user writes it without this package at hand. */
const source = (name: string, more = "") => `
interface Args { text: string }
${more}
export default {
  name: "${name}",
  description: "Says it",
  schema: { type: "object", properties: { text: { type: "string" } }, required: ["text"] },
  on_crash: "never",
  effect: "read",
  run: (args: Args) => args.text + " from ${name}",
};
`;
const put = (files: Record<string, string>) =>
  workspace.write(Object.fromEntries(Object.entries(files).map(([name, text]) => [`.cognition/tools/${name}`, text])));

describe("tool files", () => {
  it("are none where there is no folder", async () => {
    expect(await open().refresh()).toEqual({ tools: [], problems: [] });
  });

  it("are loaded, TypeScript and JavaScript, and run", async () => {
    await put({
      "a.ts": source("a"),
      "b.js": source("b").replaceAll(/interface.*|: Args/g, ""),
      "_draft.ts": "this is not a program",
      "types.d.ts": "export type A = 1;",
      "notes.md": "#",
    });
    const { tools, problems } = await open().refresh();
    expect(problems).toEqual([]);
    expect(tools.map(({ name, origin, source: from }) => [name, origin, from])).toEqual([
      ["a", ".cognition/tools/a.ts", "file"],
      ["b", ".cognition/tools/b.js", "file"],
    ]);
    expect(await tools[0]?.run({ text: "hi" }, {} as never)).toBe("hi from a");
  });

  it("may export several, made with defineTool of whatever copy of this package, once each", async () => {
    const mark = `const make = (name) => Object.defineProperty({ name, description: "d", schema: { type: "object" }, on_crash: "retry",
      effect: "read", run: () => name }, Symbol.for("cognition.tool"), { value: true });`;
    await put({
      "many.js": `${mark}\nexport const one = make("one");\nexport const two = make("two");\nexport default one;\nexport const other = { name: "x" };`,
    });
    const { tools, problems } = await open().refresh();
    expect(problems).toEqual([]);
    expect(tools.map(({ name }) => name).sort()).toEqual(["one", "two"]);
  });

  it.each([
    ["a syntax error", "export default {\n  name: 'x',,\n};", 2, "x.ts:2"],
    ["an error at its top", "const a = 1;\n\nthrow new Error('no key ' + a);", 3, "no key 1"],
    ["an import that is not there", "import 'no-such-package-here';\nexport default {};", null, "no-such-package-here"],
    ["no export", "const a = 1;", 1, "exports no tool"],
    ["something else", "\nexport default 7;", 2, "x.ts:2"],
    [
      "no on_crash",
      `\n\n${source("x").replace('on_crash: "never",', "").trim().replace("interface Args { text: string }", "type Args = any;")}`,
      5,
      "on_crash must be retry, never or ask",
    ],
    ["a wrong effect", source("x").replace('"read"', '"maybe"'), 4, "effect must be"],
    ["an unknown key", source("x").replace("effect:", "extra: 1, effect:"), 4, "extra"],
    ["a bad name", source("no spaces"), 4, "name must be letters"],
    [
      "no schema of an object",
      source("x").replace('type: "object"', 'type: "string"'),
      4,
      'its "type" is not "object"',
    ],
    ["a schema that is none", source("x").replace('required: ["text"]', 'required: "text"'), 4, "not a JSON Schema"],
  ])("with %s are a problem with file and line", async (_name, text, line, message) => {
    await put({ "x.ts": text, "good.ts": source("good") });
    const { tools, problems } = await open().refresh();
    expect(tools.map(({ name }) => name)).toEqual(["good"]);
    expect(problems).toMatchObject([{ file: ".cognition/tools/x.ts", line, code: "invalid_config" }]);
    expect(problems[0]?.message).toContain(message);
    expect(problems[0]?.message).toContain(".cognition/tools/x.ts");
  });

  it("are loaded anew when they change, at the next use; a broken one keeps what it was", async () => {
    await put({ "a.ts": source("a") });
    const files = open();
    const say = async () => (await files.refresh()).tools.map((tool) => tool.run({ text: "1" }, {} as never));
    expect(await say()).toEqual(["1 from a"]);
    await put({ "a.ts": source("a").replace("from a", "changed") });
    expect(await say()).toEqual(["1 changed"]);
    await put({ "a.ts": "export default {" });
    expect(await say()).toEqual(["1 changed"]);
    expect((await files.refresh()).problems).toHaveLength(1);
    await put({ "a.ts": source("b") });
    expect(await say()).toEqual(["1 from b"]);
    expect((await files.refresh()).problems).toEqual([]);
    await workspace.remove(".cognition/tools/a.ts");
    expect(await say()).toEqual([]);
  });

  it("of CommonJS are loaded anew, too", async () => {
    const commonJs = (text: string) =>
      source(text)
        .replaceAll(/interface.*|: Args/g, "")
        .replace("export default", "module.exports =");
    await put({ "a.js": commonJs("a") });
    const files = open();
    expect((await files.refresh()).tools.map(({ name }) => name)).toEqual(["a"]);
    await put({ "a.js": commonJs("b") });
    expect(await files.refresh()).toMatchObject({ tools: [{ name: "b" }], problems: [] });
  });

  it("are the same objects while nothing changes", async () => {
    await put({ "a.ts": source("a") });
    const files = open();
    expect((await files.refresh()).tools[0]).toBe((await files.refresh()).tools[0]);
  });

  const loadedByNode = async () => {
    const child = join(import.meta.dirname, "..", "children", "tool-files.ts");
    const node = ["--conditions=cognition-source", child, workspace.root];
    const { stdout, stderr } = await promisify(execFile)(process.execPath, node, { timeout: 50_000 });
    expect(stderr).toBe("");
    return JSON.parse(stdout);
  };

  it("are loaded by Node itself, and keep no process alive", async () => {
    await put({ "a.js": source("a").replaceAll(/interface.*|: Args/g, "") });
    expect(await loadedByNode()).toEqual({ names: ["a"], problems: [] });
  });

  it("import the server's own packages where the workspace has none installed", { tags: "long" }, async () => {
    await put({
      "a.ts": `import { defineTool } from "@cognition/server";
import { z } from "zod";
export default defineTool({ name: "a", description: "d", schema: z.object({ n: z.number() }), on_crash: "retry", effect: "read", run: ({ n }) => \`\${n}\` });`,
      "b.ts": `import { tool } from "@langchain/core/tools";\n${source("b").replace('"b"', "typeof tool")}`,
      // Not a part of what tools are written with, though the server has it.
      "c.ts": 'import "pino";\nexport default {};',
    });
    const { names, problems } = await loadedByNode();
    expect(names).toEqual(["a", "function"]);
    expect(problems).toMatchObject([{ file: ".cognition/tools/c.ts", message: expect.stringContaining("'pino'") }]);
  });

  it("import what is installed in the workspace, if anything is", async () => {
    await workspace.write({
      "node_modules/zod/package.json": '{ "name": "zod", "exports": "./own.js" }',
      "node_modules/zod/own.js": "exports.name = 'installed';",
    });
    await put({ "a.ts": `import { name } from "zod";\n${source("a").replace('name: "a"', "name")}` });
    expect(await loadedByNode()).toEqual({ names: ["installed"], problems: [] });
  });
});

describe("names of tools", () => {
  const builtin = {
    name: "search",
    description: "d",
    schema: { type: "object" },
    on_crash: "retry",
    effect: "network",
    run: () => "built in",
  } as const;

  it("are given once: built-in ones first, then files in order", async () => {
    await put({ "a.ts": source("twin"), "b.ts": source("twin"), "c.ts": source("search"), "d.ts": source("execute") });
    const registry = createToolRegistry({ builtins: [builtin], files: open() });
    const { usable: tools } = await registry.ask();
    expect(tools.map(({ name, origin }) => [name, origin])).toEqual([
      ["search", null],
      ["twin", ".cognition/tools/a.ts"],
    ]);
    expect((await registry.problems()).map(({ file, message }) => [file, message])).toEqual([
      [".cognition/tools/b.ts", expect.stringContaining('"twin" is taken by .cognition/tools/a.ts')],
      [".cognition/tools/c.ts", expect.stringContaining('"search" is taken by a built-in tool')],
      [".cognition/tools/d.ts", expect.stringContaining('"execute" is taken by a built-in tool')],
    ]);
  });

  it("of built-in tools that are switched off are free, and nobody gets them", async () => {
    await put({ "c.ts": source("search") });
    const registry = createToolRegistry({ builtins: [builtin], files: open(), disabled: ["search", "execute"] });
    expect((await registry.ask()).usable.map(({ origin }) => origin)).toEqual([".cognition/tools/c.ts"]);
    const known = await registry.known();
    expect([known.has("execute"), known.has("read_file"), known.has("search")]).toEqual([false, true, true]);
  });

  it("and what they stand for have a version, which changes with any of them", async () => {
    await put({ "a.ts": source("a") });
    const registry = createToolRegistry({ builtins: [builtin], files: open() });
    const first = (await registry.known()).version;
    expect((await registry.known()).version).toBe(first);
    await put({ "a.ts": source("a").replace("from a", "changed") });
    const second = (await registry.known()).version;
    expect(second).not.toBe(first);
    expect((await registry.known()).version).toBe(second);
  });

  it("to switch off that are not there stop the start", () => {
    expect(() => createToolRegistry({ builtins: [builtin], disabled: ["serach"] })).toThrow(
      expect.objectContaining({ code: "invalid_config", message: expect.stringContaining("serach") }),
    );
  });
});
