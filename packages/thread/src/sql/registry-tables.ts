import type { Generated } from "kysely";

/** Definitions made through the API, what was spent and what may be. */
export interface RegistryTables {
  agents: DefinitionRow;
  providers: DefinitionRow;
  definition_changes: DefinitionChangeRow;
  agent_revisions: AgentRevisionRow;
  run_usage: RunUsageRow;
  budgets: BudgetRow;
  budget_usage: BudgetUsageRow;
  budget_reservations: BudgetReservationRow;
}

interface DefinitionRow {
  scope: string;
  name: string;
  definition: string;
  hash: string;
  created_at: string;
  updated_at: string;
}

interface DefinitionChangeRow {
  kind: string;
  version: number;
}

interface AgentRevisionRow {
  revision: string;
  scope: string;
  agent: string;
  created_at: string;
}

interface RunUsageRow {
  pk: Generated<number>;
  scope: string;
  session_id: string;
  run_id: string;
  agent_name: string;
  model: string;
  /** UTC, YYYY-MM-DD. */
  day: string;
  input_tokens: number;
  output_tokens: number;
  /** Null where no price is known. */
  estimated_cost: number | null;
}

interface BudgetRow {
  id: string;
  scope: string;
  /** '' for any agent, likewise any session. */
  agent_name: string;
  session_id: string;
  period: string;
  max_cost: number | null;
  max_tokens: number | null;
  max_steps: number | null;
  max_tool_calls: number | null;
  max_seconds: number | null;
  created_at: string;
  updated_at: string;
}

interface BudgetUsageRow {
  budget_id: string;
  /** What the numbers are of: a day, a month, a run's or a session's id, '' for all time. */
  stretch: string;
  scope: string;
  used_cost: Generated<number>;
  used_tokens: Generated<number>;
  used_steps: Generated<number>;
  used_tool_calls: Generated<number>;
  used_seconds: Generated<number>;
  reserved_cost: Generated<number>;
  reserved_tokens: Generated<number>;
  unpriced_tokens: Generated<number>;
}

interface BudgetReservationRow {
  id: string;
  budget_id: string;
  stretch: string;
  scope: string;
  cost: number;
  tokens: number;
  expires_at: number;
  /** Null of one that a program before this column has made. */
  run_id: string | null;
}
