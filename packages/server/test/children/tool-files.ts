import { createToolFiles } from "../../src/tool/tool-files.ts";

// Watches and never closes: if anything kept the process alive, it would not end.
const files = createToolFiles({ root: process.argv[2] ?? "" });
const { tools, problems } = await files.refresh();
console.log(JSON.stringify({ names: tools.map(({ name }) => name), problems }));
