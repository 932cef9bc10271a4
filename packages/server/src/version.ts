import { readFileSync } from "node:fs";

/** The package's own; the file stands beside the source and beside what is built from it. */
export const VERSION: string = JSON.parse(readFileSync(new URL("../package.json", import.meta.url), "utf8")).version;
