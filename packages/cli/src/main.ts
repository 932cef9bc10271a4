#!/usr/bin/env node
// As a whole: an older Node does not get past the import of a name that it lacks.
import module from "node:module";
import { setFlagsFromString } from "node:v8";

// Nothing but this file is loaded by an older Node: what it lacks would otherwise be named before we can say so.
const [major = 0, minor = 0] = process.versions.node.split(".").map(Number);
if (major < 22 || (major === 22 && minor < 18)) {
  process.stderr.write(`cognition needs Node 22.18 or newer; this is ${process.versions.node}.\n`);
  process.exit(2);
}

// Node calls its SQLite experimental at every start; every other warning stays.
process.removeAllListeners("warning");
process.on("warning", (warning) => {
  if (warning.name !== "ExperimentalWarning") process.stderr.write(`${warning.name}: ${warning.message}\n`);
});

// At its end Node waits for V8's compiling threads, and one of these may wait for a garbage collection that never comes.
setFlagsFromString("--no-concurrent-sparkplug");
module.enableCompileCache(); // what was compiled at the last start need not be again
const [{ runCommand }, { openProcess }] = await Promise.all([import("./run-command.ts"), import("./open-process.ts")]);
const code = await openProcess(process, (context) => runCommand(process.argv.slice(2), context));
// A thread of a library that is still busy must not keep the command; what was written must still get out.
process.exitCode = code;
process.stdout.write("", () => process.stderr.write("", () => process.exit(code)));
