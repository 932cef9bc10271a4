import { AppError, type PutBudgets, type Scope } from "@cognition/contract";
import type { Storage } from "@cognition/thread";
import type { AgentRegistry } from "../../agent/agent-registry.ts";
import type { Budgets } from "../../budget/budgets.ts";
import { requireAdmin } from "../admin.ts";
import type { Handlers } from "../handler.ts";

export interface BudgetRoutes {
  readonly storage: Pick<Storage, "budgets" | "getSession">;
  readonly agents: Pick<AgentRegistry, "list">;
  readonly budgets: Pick<Budgets, "changed">;
}

export function budgetRoutes(options: BudgetRoutes): Pick<Handlers, "getBudgets" | "putBudgets"> {
  const { storage, budgets } = options;
  return {
    getBudgets: async ({ scope }) => ({ budgets: await storage.budgets.listBudgets(scope) }),
    putBudgets: async (call) => {
      // A limit that whoever spends could raise would be none.
      requireAdmin(call, "Writing budgets");
      await refuseUnknown(options, call.body, call.scope);
      const written = await storage.budgets.putBudgets(call.scope ?? {}, call.body.budgets);
      budgets.changed();
      return { budgets: written };
    },
  };
}

/** A limit on a misspelt name would never hold anybody back. */
async function refuseUnknown(
  { storage, agents }: BudgetRoutes,
  { budgets }: PutBudgets,
  scope: Scope | undefined,
): Promise<void> {
  const named = budgets.some(({ agent_name }) => agent_name !== null);
  const valid = named ? (await agents.list(scope)).agents.map(({ name }) => name) : [];
  for (const [index, { agent_name, session_id }] of budgets.entries()) {
    if (agent_name !== null && !valid.includes(agent_name)) {
      const msg = `the agent "${agent_name}" is not known; valid: ${valid.join(", ")}`;
      throw new AppError("unknown_agent", msg, { details: { errors: [{ loc: ["body", "budgets", index], msg }] } });
    }
    if (session_id !== null && !(await storage.getSession(session_id, scope))) {
      throw new AppError("session_not_found", `There is no session ${session_id}; no budget was changed`);
    }
  }
}
