import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { openApiDocument } from "../src/http/openapi/document.ts";
import { VERSION } from "../src/version.ts";

const file = join(import.meta.dirname, "../../../docs/openapi.json");
writeFileSync(file, `${JSON.stringify(openApiDocument(VERSION), null, 2)}\n`);
