import { readFileSync } from "node:fs";
import { join } from "node:path";
import { ERROR_CODES } from "@cognition/contract";
import { expect, test } from "vitest";
import { renderErrorReference } from "../../scripts/error-reference.ts";

const FILE = join(import.meta.dirname, "../../../../docs/reference/errors.md");

test("the page of errors is as `npm run error-reference` writes it, with every code once", () => {
  // The formatter pads tables; the words are what must be fresh.
  const words = (text: string) => text.split(/[\s|-]+/).filter((word) => word !== "");
  const page = renderErrorReference();
  expect(words(readFileSync(FILE, "utf8"))).toEqual(words(page));
  for (const { code } of ERROR_CODES) expect(page.split(`| \`${code}\` |`), code).toHaveLength(2);
});
