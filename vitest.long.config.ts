import { globSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { defineConfig } from "vitest/config";
import fast from "./vitest.config.ts";

const TESTS = ["packages/*/test/**/*.test.ts", "test/**/*.test.ts"];
const HAS_LONG = /"long"|\bonEveryEngine\(/;

/** What `npm run check` leaves to `npm test`: the tests tagged "long". A file without one is not even read. */
export default defineConfig({
  ...fast,
  test: {
    ...fast.test,
    include: globSync(TESTS, { cwd: import.meta.dirname }).filter((file) =>
      HAS_LONG.test(readFileSync(join(import.meta.dirname, file), "utf8")),
    ),
  },
});
