/**
 * Answers what agents ask, by rule: a server that is called back when a run waits for a decision, looks at what it asks for
 * and decides. Nothing is kept here: a callback that came while the bot was down is sent again, and what it missed is in
 * `GET /approvals`.
 */
import { createServer, type IncomingMessage } from "node:http";
import { text } from "node:stream/consumers";
import { parseArgs } from "node:util";
import { createClient, isAppError } from "@cognition/client";
import { decide } from "./decide.ts";
import { isGenuine } from "./verify-webhook.ts";

const { values } = parseArgs({
  options: {
    server: { type: "string", default: "http://127.0.0.1:8000" },
    port: { type: "string", default: "4000" },
  },
});
const secret = process.env["WEBHOOK_SECRET"];
if (!secret) {
  console.error("Set WEBHOOK_SECRET to the secret that the server signs with (COGNITION_WEBHOOKS_SECRETS).");
  process.exit(2);
}

const client = createClient({ baseUrl: values.server });

/** Answers everything that the session waits for, at once. */
async function answer(session_id: string): Promise<void> {
  const { approvals } = await client.listApprovals({ session_id });
  if (approvals.length === 0) return;
  const decisions = approvals.map(decide);
  try {
    await client.resumeSession(session_id, { decisions });
  } catch (error) {
    // A person, or this bot at an earlier delivery, was first.
    if (isAppError(error) && ["already_answered", "nothing_waiting"].includes(error.code)) return;
    throw error;
  }
  for (const [i, { type }] of decisions.entries()) {
    console.log(`${type} ${approvals[i]?.tool_name} ${JSON.stringify(approvals[i]?.args)}`);
  }
}

/** The status to answer with. Anything but a 2xx, and the server calls again later. */
async function receive(request: IncomingMessage, secret: string): Promise<number> {
  const body = await text(request);
  if (!isGenuine(secret, request.headers, body)) return 401;
  const { session_id, status } = JSON.parse(body) as { session_id: string; status: string };
  if (status === "waiting") await answer(session_id);
  else console.log(`session ${session_id} is ${status}`);
  return 204;
}

createServer(async (request, response) => {
  const status = await receive(request, secret).catch((error: unknown) => {
    // A server that is away has a message of its own; a fault of this program needs its stack.
    console.error(isAppError(error) ? error.message : error);
    return 503;
  });
  response.writeHead(status).end();
})
  .on("error", ({ message }) => {
    console.error(message);
    process.exitCode = 1;
  })
  .listen(Number(values.port), "127.0.0.1", () => console.log(`waiting for callbacks on port ${values.port}`));
