import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { renderErrorReference } from "./error-reference.ts";

writeFileSync(join(import.meta.dirname, "../../../docs/reference/errors.md"), renderErrorReference());
