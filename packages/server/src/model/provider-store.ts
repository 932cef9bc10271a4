import type { Scope } from "@cognition/contract";
import { scopeKey } from "../scope-key.ts";
import type { ProviderDefinition } from "./provider-definition.ts";

/** Where the definitions made through the API are kept. A provider is one by its id within its scope. */
export interface ProviderStore {
  /** All there are. What another node has changed may come a moment later. */
  list(): Promise<readonly ProviderDefinition[]>;
  /** What any node has changed up to now is in the next list. */
  lookAgain(): void;
  /** As it is stored now. */
  find(id: string, scope: Scope): Promise<ProviderDefinition | null>;
  /** Stores it if what is there equals `seen` (null: nothing is there). False, with nothing changed, if it does not. */
  put(provider: ProviderDefinition, seen: ProviderDefinition | null): Promise<boolean>;
  /** False if there was none. */
  remove(id: string, scope: Scope): Promise<boolean>;
}

/** What tells a provider from others. */
export type Named = Pick<ProviderDefinition, "id" | "scope">;

export function providerKey({ id, scope }: Named): string {
  return JSON.stringify([id, scopeKey(scope)]);
}
