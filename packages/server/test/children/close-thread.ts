import { createWorkspaceThread } from "../../src/timeline/workspace/workspace-thread.ts";

// Ends threads while an answer of theirs is on its way: it comes before that, in its middle, or not at all.
const [root = "."] = process.argv.slice(2);
const limits = { maxFileBytes: 1_000, exclude: [], ignore: [] };
for (let ms = 0; ms < 20; ms += 2) {
  const thread = createWorkspaceThread();
  await thread.ask("scan", { root, limits });
  const asked = thread.ask("scan", { root, limits }).catch(() => undefined);
  const until = performance.now() + ms;
  while (performance.now() < until);
  await Promise.all([thread.close(), asked]);
}
process.stdout.write("all ended");
