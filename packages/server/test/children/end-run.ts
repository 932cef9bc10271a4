import { openStorage } from "@cognition/thread";
import { compose } from "../../src/compose.ts";
import { defaultConfig } from "../../src/config.ts";

/** Takes a message to its end and says so; its callback is owed, and nobody here sends it. */
const { uri, root, url } = JSON.parse(process.argv[2] ?? "null") as { uri: string; root: string; url: string };
const storage = await openStorage(uri);
const config = defaultConfig();
const { engine } = await compose({
  storage,
  workspace_root: root,
  env: { PATH: process.env["PATH"] },
  config: { ...config, webhooks: { ...config.webhooks, allow_addresses: ["127.0.0.1"] } },
  engine: { poll_ms: 20 },
  onError: (error) => process.stderr.write(`${String(error)}\n`),
});
engine.start();
const { id: session_id } = await storage.createSession({});
const message_id = crypto.randomUUID();
const { run } = await engine.submit({
  session_id,
  callback_url: url,
  message: { id: message_id, role: "user", content: "Hello" },
  input: { kind: "message", message_id, content: "Hello" },
});
for await (const { event } of storage.followEvents({ session_id, after: 0 })) {
  if (event === "done") process.stdout.write(`${JSON.stringify({ session_id, run_id: run.id })}\n`);
}
