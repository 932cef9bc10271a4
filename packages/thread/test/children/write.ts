import { openStorage } from "../../src/open-storage.ts";
import { input, say, waitForGo } from "./parent.ts";

/** One of several processes that write to the same file at the same time: so many rounds, or until it is told to stop. */
const { uri, session_id, rounds } = input<{ uri: string; session_id: string; rounds?: number }>();
await waitForGo();
let told = false;
process.stdin.once("data", () => {
  told = true;
});
// A machine that is busy may keep each of them waiting for longer than a user would like.
const storage = await openStorage({ uri, busy_timeout_ms: 50_000 });
let failures = 0;
let n = 0;
const attempt = (write: Promise<unknown>) =>
  write.catch((error: unknown) => {
    failures += 1;
    process.stderr.write(`${error}\n`);
  });
for (; rounds === undefined ? !told : n < rounds; n++) {
  const own = storage.createSession({ metadata: { n: `${n}` } });
  await Promise.all([
    attempt(own),
    attempt(storage.createMessage({ session_id, role: "user", content: `${n}` })),
    attempt(storage.updateMessageCount(session_id, 1)),
    attempt(own.then(({ id }) => storage.updateSession(id, { title: `${n}` }))),
  ]);
}
await storage.close();
say({ failures, rounds: n });
process.exit();
