import type { Agent, DecisionType } from "@cognition/contract";

/** An agent as somebody wrote it, with every default filled in. */
export type AgentDefinition = Omit<Agent, "revision">;

/**
 * An agent as a run uses it: its definition and everything it may delegate to. Never changes once it has a revision, which
 * is the hash of all of it: a run that goes on after a restart gets the same prompts, tools and limits.
 */
export interface ResolvedAgent {
  readonly revision: string;
  readonly definition: AgentDefinition;
  /** The agents it may reach through delegation, at any depth, each once. */
  readonly subagents: readonly AgentDefinition[];
  /**
   * For each agent here, by name, those it may delegate to directly. Has no cycle: a delegation back to an agent that is
   * already on the way is left out, so every agent can be built after those it needs.
   */
  readonly delegates: Readonly<Record<string, readonly string[]>>;
}

export interface ApprovalRule {
  readonly allowed_decisions: readonly DecisionType[];
  /** What the human is told beside the call. */
  readonly description?: string;
  /** What the model is told where the user rejects without a word. */
  readonly rejected?: string;
}
