import type { Storage } from "@cognition/thread";
import type { AgentRegistry } from "../agent/agent-registry.ts";
import type { SkillFiles } from "../agent/skill-files.ts";
import type { Budgets } from "../budget/budgets.ts";
import type { ModelRegistry } from "../model/model-registry.ts";
import type { ToolRegistry } from "../tool/tool-registry.ts";
import type { Handlers } from "./handler.ts";
import { createAgentRoutes } from "./routes/agents.ts";
import { createBudgetRoutes } from "./routes/budgets.ts";
import { createDeliveryRoutes } from "./routes/deliveries.ts";
import { createModelRoutes } from "./routes/models.ts";
import { createProviderRoutes } from "./routes/providers.ts";
import { createSkillRoutes } from "./routes/skills.ts";
import { createToolRoutes } from "./routes/tools.ts";
import { createUsageRoutes } from "./routes/usage.ts";

export interface RegistryParts {
  readonly storage: Storage;
  readonly agents: AgentRegistry;
  readonly skills: Pick<SkillFiles, "refresh">;
  readonly tools: Pick<ToolRegistry, "ask">;
  readonly models: ModelRegistry;
  readonly budgets: Pick<Budgets, "changed">;
  /** Told that a callback is due again. */
  readonly onDue: () => void;
}

/** What can be defined, what it costs, and whom it was told. */
export function createRegistryHandlers({
  storage,
  agents,
  skills,
  tools,
  models,
  budgets,
  onDue,
}: RegistryParts): Partial<Handlers> {
  return {
    ...createAgentRoutes(agents),
    ...createSkillRoutes(skills),
    ...createToolRoutes(tools),
    ...createModelRoutes(models),
    ...createProviderRoutes(models),
    ...createDeliveryRoutes({ storage, onDue }),
    ...createUsageRoutes(storage),
    ...createBudgetRoutes({ storage, agents, budgets }),
  };
}
