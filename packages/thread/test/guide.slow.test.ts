import { spawnSync } from "node:child_process";
import { mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, describe, expect, it } from "vitest";

const packageFolder = join(import.meta.dirname, "..");
const guideFolder = join(packageFolder, "../../docs/guide");
/** Inside the package, so that its imports are found as a user's would be. */
const scratch = join(import.meta.dirname, ".guide");

interface Example {
  name: string;
  code: string;
  isSuite: boolean;
}

/** Every ```ts block of every page. */
const examples: Example[] = readdirSync(guideFolder)
  .filter((page) => page.endsWith(".md"))
  .flatMap((page) => {
    const blocks = readFileSync(join(guideFolder, page), "utf8").matchAll(/^```ts\n(.*?)^```/gms);
    return [...blocks].map(([, code = ""], i) => ({
      name: `${page} ${i + 1}`,
      code,
      isSuite: code.includes('from "vitest"'),
    }));
  });

/** What the comments beside an example's prints say, where there is one beside each of them. */
function promisedOutput(code: string): string[] | undefined {
  const prints = code.split("\n").filter((line) => line.includes("console.log("));
  const comments = prints.flatMap((line) => / \/\/ (.*)$/.exec(line)?.[1] ?? []);
  return comments.length > 0 && comments.length === prints.length ? comments : undefined;
}

afterAll(() => rmSync(scratch, { recursive: true, force: true }));

describe("the guide's examples", () => {
  it("are found", () => expect(examples.length).toBeGreaterThan(3));

  for (const { name, code } of examples.filter((example) => !example.isSuite)) {
    it(`${name} runs`, () => {
      const node = ["--conditions=cognition-source", "--input-type=module-typescript", "--eval", code];
      const { status, stdout, stderr } = spawnSync(process.execPath, node, { cwd: packageFolder, encoding: "utf8" });
      expect(stderr).toBe("");
      expect(status).toBe(0);
      // One that exports is a file of a workspace, and only loaded.
      expect(stdout === "").toBe(/^export /m.test(code));
      const promised = promisedOutput(code);
      if (promised) expect(stdout.replaceAll("'", '"').trim().split("\n")).toEqual(promised);
    });
  }
});

// Suites register their tests while this file is collected, as they would in a file of their own.
for (const [i, { code }] of examples.filter((example) => example.isSuite).entries()) {
  mkdirSync(scratch, { recursive: true });
  const file = join(scratch, `suite-${i}.ts`);
  writeFileSync(file, code);
  await import(file);
}
