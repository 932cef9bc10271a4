#!/usr/bin/env node
import { parseArgs } from "node:util";

const { positionals } = parseArgs({ allowPositionals: true, strict: false });
process.stderr.write(`cognition: unknown command ${JSON.stringify(positionals[0] ?? "")}\n`);
process.exitCode = 2;
