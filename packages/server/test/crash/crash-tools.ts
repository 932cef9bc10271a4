import { setTimeout as delay } from "node:timers/promises";
import { z } from "zod";
import { defineTool } from "../../src/tool/define-tool.ts";
import type { OnCrash, ToolDefinition } from "../../src/tool/tool.ts";
import type { KillPoints } from "./kill-point.ts";
import type { Ledger } from "./ledger.ts";

/** Long enough for a kill at any moment to fall into it now and then. */
const SLOW_MS = 150;
/** Longer than any node waits for a tool before it leaves. */
const ENDLESS_MS = 120_000;

interface CrashTool {
  on_crash: OnCrash;
  takes_ms?: number;
}

/** What the world sees of each is a line in the ledger. */
export const CRASH_TOOLS: Readonly<Record<string, CrashTool>> = {
  charge: { on_crash: "never" },
  record: { on_crash: "retry" },
  linger: { on_crash: "never", takes_ms: SLOW_MS },
  order: { on_crash: "ask" },
  ponder: { on_crash: "never", takes_ms: ENDLESS_MS },
};

export function createCrashTools(ledger: Ledger, points: Pick<KillPoints, "pass">): ToolDefinition[] {
  return Object.entries(CRASH_TOOLS).map(([name, { on_crash, takes_ms = 0 }]) =>
    defineTool({
      name,
      description: `Notes down what is to be done (${name}).`,
      schema: z.object({ note: z.string().describe("What to note down") }),
      on_crash,
      effect: "write",
      run: async ({ note }, { tool_call_id, idempotency_key, run_id, signal }) => {
        ledger.write({ t: "effect", tool: name, note, tool_call_id, idempotency_key, run_id });
        points.pass("in the tool", name);
        if (takes_ms > 0) await delay(takes_ms, undefined, { signal });
        return `noted ${note}`;
      },
    }),
  ) as ToolDefinition[];
}
