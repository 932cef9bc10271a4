import { openStorage } from "../../src/open-storage.ts";
import { input, say, waitForGo } from "./parent.ts";

/** One of several processes that write to the same file at the same time. */
const { uri, session_id, rounds } = input<{ uri: string; session_id: string; rounds: number }>();
await waitForGo();
const storage = await openStorage(uri);
let failures = 0;
const attempt = (write: Promise<unknown>) =>
  write.catch((error: unknown) => {
    failures += 1;
    process.stderr.write(`${error}\n`);
  });
for (let n = 0; n < rounds; n++) {
  const own = storage.createSession({ metadata: { n: `${n}` } });
  await Promise.all([
    attempt(own),
    attempt(storage.createMessage({ session_id, role: "user", content: `${n}` })),
    attempt(storage.updateMessageCount(session_id, 1)),
    attempt(own.then(({ id }) => storage.updateSession(id, { title: `${n}` }))),
  ]);
}
await storage.close();
say({ failures });
process.exit();
