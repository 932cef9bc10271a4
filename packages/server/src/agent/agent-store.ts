import type { Scope } from "@cognition/contract";
import type { AgentDefinition, ResolvedAgent } from "./agent-definition.ts";

export interface StoredAgent {
  readonly definition: AgentDefinition;
  readonly scope: Scope;
  /** Of the definition: what a writer has seen, and compares with. */
  readonly hash: string;
}

/**
 * Where definitions made through the API are kept, and every revision that a run has begun with. A scope is matched by
 * exact equality of all its keys. Writes are durable when the promise resolves.
 */
export interface AgentStore {
  /** All definitions of these scopes, in no particular order. What another node has changed may come a moment later. */
  listAgents(scopes: readonly Scope[]): Promise<readonly StoredAgent[]>;
  /** What any node has changed up to now is in the next list. */
  lookAgain(): void;
  /** The definition of that name in the first of these scopes that has one. */
  findAgent(name: string, scopes: readonly Scope[]): Promise<StoredAgent | null>;
  /**
   * Stores it under its name and scope if what is there has the hash `expected` (null: nothing is there). False, with
   * nothing changed, if another writer came first.
   */
  putAgent(agent: StoredAgent, expected: string | null): Promise<boolean>;
  /** False if there was none in exactly this scope. */
  deleteAgent(name: string, scope: Scope): Promise<boolean>;

  /** Keeps it for ever under its revision, as one that this scope has used. The same one again changes nothing. */
  saveRevision(agent: ResolvedAgent, scope: Scope): Promise<void>;
  findRevision(revision: string): Promise<ResolvedAgent | null>;
}
