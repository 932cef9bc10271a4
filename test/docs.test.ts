import { existsSync, readFileSync } from "node:fs";
import { basename, dirname, join } from "node:path";
import { describe, expect, test } from "vitest";
import { findAnchorLinks, findAnchors, findRelativeLinks } from "../testing/markdown-links.ts";
import { listRepositoryFiles } from "../testing/repository-files.ts";

const root = join(import.meta.dirname, "..");
const files = listRepositoryFiles(root);
const read = (file: string) => readFileSync(join(root, file), "utf8");

describe("the repository", () => {
  test("is listed without what .gitignore leaves out", () => {
    expect(files).toEqual(expect.arrayContaining(["package.json", ".gitignore", "test/docs.test.ts"]));
    expect(files.filter((file) => file.includes("node_modules/"))).toEqual([]);
  });

  test("names no path of the machine it was written on", () => {
    expect(files.flatMap((file) => machinePaths(read(file)).map((path) => `${file}: ${path}`))).toEqual([]);
  });

  test("locks its dependencies without naming a registry", () => {
    expect(read("package-lock.json")).not.toContain('"resolved": "http');
  });

  // npm leaves out an optional dependency that it could not reach when the lock was written; `npm ci` then refuses it.
  test("locks the optional dependencies of every platform", () => {
    const packages: Record<string, { optionalDependencies?: object }> = JSON.parse(read("package-lock.json")).packages;
    const locked = new Set(Object.keys(packages).map((path) => path.split("node_modules/").at(-1)));
    const wanted = Object.values(packages).flatMap((entry) => Object.keys(entry.optionalDependencies ?? {}));
    expect(wanted.filter((name) => !locked.has(name))).toEqual([]);
  });

  test("links only to files that exist", () => {
    const broken = files
      .filter((file) => file.endsWith(".md"))
      .flatMap((file) => findRelativeLinks(read(file)).map((link) => ({ file, link })))
      .filter(({ file, link }) => !existsSync(join(root, dirname(file), link)))
      .map(({ file, link }) => `${file}: ${link}`);
    expect(broken).toEqual([]);
  });
});

describe("the dependencies", () => {
  test("of every published package have their reason in docs/dependencies.md, and no others", () => {
    const manifests = files
      .filter((file) => /^packages\/[^/]+\/package\.json$/.test(file))
      .map((file) => JSON.parse(read(file)));
    const named = manifests.flatMap(({ dependencies, peerDependencies }) =>
      Object.keys({ ...dependencies, ...peerDependencies }).filter((name) => !name.startsWith("@cognition/")),
    );
    const rows = read("docs/dependencies.md").matchAll(/^\| (`.*?) *\|/gm);
    const explained = [...rows].flatMap(([, cell = ""]) => [...cell.matchAll(/`([^`]+)`/g)].map(([, name]) => name));
    expect(named.length).toBeGreaterThan(20);
    expect(explained.sort()).toEqual([...new Set(named)].sort());
  });
});

describe("the documents", () => {
  const pages = files.filter((file) => file.endsWith(".md"));

  test("link only to headings that exist", () => {
    const broken = pages.flatMap((page) =>
      findAnchorLinks(read(page))
        .filter(({ file }) => file === "" || file.endsWith(".md"))
        .filter(({ file, anchor }) => !findAnchors(read(file ? join(dirname(page), file) : page)).includes(anchor))
        .map(({ file, anchor }) => `${page}: ${file}#${anchor}`),
    );
    expect(broken).toEqual([]);
  });

  test("call only npm scripts that there are", () => {
    const { scripts } = JSON.parse(read("package.json"));
    const called = pages.flatMap((file) => npmScripts(read(file)).map((name) => ({ file, name })));
    expect(called.length).toBeGreaterThan(10);
    expect(called.filter(({ name }) => !(name in scripts)).map(({ file, name }) => `${file}: npm run ${name}`)).toEqual(
      [],
    );
  });

  test("list every guide in the index", () => {
    const linked = new Set(findRelativeLinks(read("docs/guide/README.md")));
    const guides = pages.filter((file) => /^docs\/guide\/(?!README)/.test(file));
    expect(guides.map((file) => basename(file)).filter((name) => !linked.has(name))).toEqual([]);
  });

  test("name every package and every folder of the library and the server in ARCHITECTURE.md", () => {
    const text = read("ARCHITECTURE.md");
    const [packages, thread, server] = ["packages/", "packages/thread/src/", "packages/server/src/"].map(foldersIn);
    const parts = {
      packages: text.split("## Inside")[0],
      thread: text.split("## Inside")[1],
      server: text.split("## Inside")[2],
    };
    const unnamed = (folders: string[] = [], part = "", indent = 4) =>
      folders.filter((folder) => !part.includes(`\n${" ".repeat(indent)}${folder}/`));
    expect(unnamed(packages, parts.packages, 6)).toEqual([]);
    expect(unnamed(thread, parts.thread)).toEqual([]);
    expect(unnamed(server, parts.server)).toEqual([]);
  });
});

test("npm scripts are found in prose and in commands, flags left out", () => {
  const text = "`npm run check` and\n\n    npm ci && npm run test:crash -- --mode=short\n\nnpm test, npm run `x`";
  expect(npmScripts(text)).toEqual(["check", "test:crash"]);
});

test("headings have the anchors that links name", () => {
  const text =
    "# A tour of `agents`, 2nd\n\n```sh\n# not this\n```\n[a](#a-tour-of-agents-2nd) [b](b.md#c) [d](https://e.org/#f)";
  expect(findAnchors(text)).toEqual(["a-tour-of-agents-2nd"]);
  expect(findAnchorLinks(text)).toEqual([
    { file: "", anchor: "a-tour-of-agents-2nd" },
    { file: "b.md", anchor: "c" },
  ]);
});

test("machine paths are seen, and longer names that contain them are not", () => {
  const [work, home] = ["work", "root"].map((name) => `/${name}/`);
  expect(machinePaths(`cd ${work}main && ls "${home}.npm"`)).toEqual([`${work}main`, `${home}.npm`]);
  expect(machinePaths(`/workspace/a net${work}a https://example.org${work}a`)).toEqual([]);
});

test.each([
  ["[a](docs/a.md) ![b](b.png)", ["docs/a.md", "b.png"]],
  ["[a](./a.md#part 'title') [b](#part)", ["./a.md"]],
  ["[a]: ../a.md\n\n[a]", ["../a.md"]],
  ['<img src="a.svg"> <a href="https://example.org">', ["a.svg"]],
  ["[a](https://example.org) [b](mailto:a@example.org)", []],
  ["`[a](a.md)`\n\n```md\n[b](b.md)\n```\n[c](c.md)", ["c.md"]],
])("relative links of %j are %j", (markdown, links) => {
  expect(findRelativeLinks(markdown)).toEqual(links);
});

function machinePaths(text: string): string[] {
  return text.match(/(?<![\w.-])\/(work|root)\/[^\s"'`)]*/g) ?? [];
}

function npmScripts(text: string): string[] {
  return [...text.matchAll(/\bnpm run ([\w:-]+)/g)].map(([, name = ""]) => name);
}

function foldersIn(folder: string): string[] {
  const inside = files.filter((file) => file.startsWith(folder)).map((file) => file.slice(folder.length).split("/"));
  return [...new Set(inside.filter((parts) => parts.length > 1).map(([name = ""]) => name))];
}
