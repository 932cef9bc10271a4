import { globSync, rmSync } from "node:fs";
import { join } from "node:path";

// tsc leaves the output of a source file that is gone, and npm would publish it.
const root = join(import.meta.dirname, "..");
for (const folder of globSync("packages/*/dist", { cwd: root })) rmSync(join(root, folder), { recursive: true });
