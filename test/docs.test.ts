import { existsSync, readFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { describe, expect, test } from "vitest";
import { findRelativeLinks } from "../testing/markdown-links.ts";
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
