import { setTimeout as delay } from "node:timers/promises";
import { z } from "zod";
import { defineTool } from "../../src/tool/define-tool.ts";
import type { OnCrash, ToolDefinition } from "../../src/tool/tool.ts";
import type { KillPoints } from "./kill-point.ts";
import type { Ledger } from "./ledger.ts";

/** Long enough for a kill at any moment to fall into it now and then. */
const SLOW_MS = 300;
/** While it takes its time it tells of it, so often that a node which was taken over has much to say when it wakes up. */
const TELLS_EVERY_MS = 5;
/** Longer than any node waits for a tool before it leaves. */
const ENDLESS_MS = 120_000;

interface CrashTool {
  on_crash: OnCrash;
  takes_ms?: number;
  /** It is at work until the ledger says that it may end. */
  is_held?: boolean;
}

/** What the world sees of each is a line in the ledger. */
export const CRASH_TOOLS: Readonly<Record<string, CrashTool>> = {
  charge: { on_crash: "never" },
  record: { on_crash: "retry" },
  linger: { on_crash: "never", takes_ms: SLOW_MS },
  order: { on_crash: "ask" },
  ponder: { on_crash: "never", takes_ms: ENDLESS_MS },
  hold: { on_crash: "never", is_held: true },
};

export function createCrashTools(ledger: Ledger, points: Pick<KillPoints, "pass">): ToolDefinition[] {
  return Object.entries(CRASH_TOOLS).map(([name, { on_crash, takes_ms = 0, is_held = false }]) =>
    defineTool({
      name,
      description: `Notes down what is to be done (${name}).`,
      schema: z.object({ note: z.string().describe("What to note down") }),
      on_crash,
      effect: "write",
      run: async ({ note }, { tool_call_id, idempotency_key, run_id, signal, emit }) => {
        ledger.write({ t: "effect", tool: name, note, tool_call_id, idempotency_key, run_id });
        points.pass("in the tool", name);
        while (is_held && !ledger.isReleased()) await delay(TELLS_EVERY_MS, undefined, { signal });
        if (takes_ms === SLOW_MS) {
          for (let told = 0; told < takes_ms; told += TELLS_EVERY_MS) {
            emit({ event: "tool_output", content: "." });
            await delay(TELLS_EVERY_MS, undefined, { signal });
          }
        } else if (takes_ms > 0) await delay(takes_ms, undefined, { signal });
        return `noted ${note}`;
      },
    }),
  ) as ToolDefinition[];
}
