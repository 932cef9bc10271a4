import { openStorage } from "../../src/open-storage.ts";
import { input, say, waitForGo } from "./parent.ts";

/** Opens the storage as another user if asked to: root may write everywhere, so it never meets a read-only folder. */
const { uri, uid } = input<{ uri: string; uid?: number }>();
await waitForGo();
if (uid !== undefined) {
  process.setgid?.(uid);
  process.setuid?.(uid);
}
try {
  const storage = await openStorage(uri);
  say({ schema_version: (await storage.healthCheck()).schema_version });
  await storage.close();
} catch (error) {
  const { code, message } = error as { code?: string; message: string };
  say({ code, message });
}
process.exit();
