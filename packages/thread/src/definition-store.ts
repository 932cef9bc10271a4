import type { Scope } from "@cognition/contract";

/** Something that was defined through the API: an agent, a model provider. What it says is opaque to storage. */
export interface StoredDefinition {
  /** One by its name within its scope. */
  name: string;
  scope: Scope;
  definition: unknown;
  /** Of the definition: what a writer has seen, and compares with. */
  hash: string;
}

/** Definitions of one kind. A scope is matched by exact equality of all its keys. */
export interface DefinitionStore {
  /** Those of these scopes, or all of them, by name and scope. */
  listDefinitions(scopes?: readonly Scope[]): Promise<StoredDefinition[]>;
  findDefinition(name: string, scope: Scope): Promise<StoredDefinition | null>;
  /**
   * Stores it under its name and scope if what is there has the hash `expected` (null: nothing is there; undefined:
   * whatever is there). False, with nothing changed, if another writer came first.
   */
  putDefinition(definition: StoredDefinition, expected?: string | null): Promise<boolean>;
  /** False if there was none in exactly this scope. */
  deleteDefinition(name: string, scope: Scope): Promise<boolean>;
  /** Rises with every committed change, whoever made it: what was read at this number is true while it stays. */
  definitionVersion(): Promise<number>;
}

/** Every revision that a run has begun with, for ever: a run that goes on gets what it began with. */
export interface RevisionStore {
  /** The same one again changes nothing, from whichever scope. */
  saveRevision(revision: { revision: string; scope: Scope; agent: unknown }): Promise<void>;
  /** What was saved under it, in whichever scope: a revision is a hash of its content. */
  findRevision(revision: string): Promise<unknown>;
}
