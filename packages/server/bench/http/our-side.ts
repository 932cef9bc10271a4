import { fileURLToPath } from "node:url";
import { createClient } from "../../../client/src/index.ts";
import type { HttpSide, SideClient } from "./http-side.ts";
import { startProcess } from "./server-process.ts";

const PROGRAM = fileURLToPath(new URL("./serve-ours.ts", import.meta.url));

export const ourSide: HttpSide = {
  name: "cognition",
  start: (folder) => startProcess(PROGRAM, [folder]),
  connect,
};

function connect(baseUrl: string): SideClient {
  const client = createClient({ baseUrl });
  return {
    createThread: async () => (await client.createSession({ agent_name: "echo" })).id,
    run: async (thread, text) => {
      const start = performance.now();
      let first_event_ms: number | undefined;
      let said = "";
      for await (const { event, data } of client.sendMessage(thread, text)) {
        first_event_ms ??= performance.now() - start;
        if (event === "done") said = String(data.assistant_data?.content);
      }
      if (said !== text || first_event_ms === undefined) throw new Error(`the echo was ${said}`);
      return { first_event_ms, whole_ms: performance.now() - start };
    },
    submit: async (thread, text) => (await client.submitMessage(thread, text)).id,
    hasSucceeded: async (thread, run) => (await client.getRun(thread, run)).status === "succeeded",
    reconnect: (thread, run) => ({
      path: `/sessions/${thread}/runs/${run}/events`,
      headers: { Accept: "text/event-stream", "Last-Event-ID": "1" },
    }),
  };
}
