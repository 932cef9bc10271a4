import { join } from "node:path";
import { gzipSync } from "node:zlib";
import { rolldown } from "rolldown";
import { expect, test } from "vitest";

const KIB = 1024;

/** As a page would ship it: one file for browsers, minified. */
async function bundle(): Promise<string> {
  const build = await rolldown({
    input: join(import.meta.dirname, "../src/index.ts"),
    platform: "browser",
    resolve: { conditionNames: ["cognition-source", "import", "default"] },
  });
  try {
    const { output } = await build.generate({ format: "esm", minify: true });
    expect(output).toHaveLength(1);
    return output[0].code;
  } finally {
    await build.close();
  }
}

test("the client is small: it carries neither zod nor the contract's schemas", async () => {
  const code = await bundle();
  const sizes = { minified: Buffer.byteLength(code), gzipped: gzipSync(code).length };
  expect(code).not.toContain("ZodError");
  expect(code).not.toMatch(/from\s*"(?!data:)/);
  expect(sizes.minified).toBeLessThan(24 * KIB);
  expect(sizes.gzipped).toBeLessThan(8 * KIB);
});
