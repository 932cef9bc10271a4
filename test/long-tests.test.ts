import { globSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, test } from "vitest";
import fast from "../vitest.config.ts";
import long from "../vitest.long.config.ts";

const root = join(import.meta.dirname, "..");
const read = (file: string) => readFileSync(join(root, file), "utf8");

test("what the check leaves out as long is run by `npm test`", () => {
  const { scripts } = JSON.parse(read("package.json")) as { scripts: Record<string, string> };
  expect(scripts["test:unit"]).toBe("vitest run --tags-filter=!long");
  expect(scripts["test:long"]).toBe("vitest run --config vitest.long.config.ts --tags-filter=long");
  expect(scripts["test"]?.split(" && ")).toEqual(expect.arrayContaining(["npm run check", "npm run test:long"]));
  expect(fast.test?.tags?.map(({ name }) => name)).toEqual(["long"]);
});

test("the files of long tests are found by their text: but for the list of engines, no other file can have tagged them", () => {
  const others = globSync(["packages/*/test/**/*.ts", "testing/*.ts"], {
    cwd: root,
    exclude: ["**/*.test.ts"],
  });
  expect(others.filter((file) => read(file).includes('"long"'))).toEqual(["packages/thread/test/engines.ts"]);
  for (const file of ["packages/thread/test/runs.test.ts", "packages/thread/test/sqlite-processes.test.ts"])
    expect(long.test?.include).toContain(file);
});
