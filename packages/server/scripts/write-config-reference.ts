import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { renderEnvExample, renderReference } from "./config-reference.ts";

const root = join(import.meta.dirname, "..", "..", "..");
writeFileSync(join(root, "docs/reference/configuration.md"), renderReference());
writeFileSync(join(root, ".env.example"), renderEnvExample());
