import type { Scope } from "@cognition/contract";

/** A service within a scope, whose breaker is open. */
export interface OpenBreaker {
  name: string;
  scope: Scope;
  /** In a row, on the node that opened it. */
  failures: number;
  /** For so long, by the database's clock at the moment of the answer. */
  open_ms: number;
}

/** Circuit breakers that the processes on one storage share. What is open is forgotten when its time is over. */
export interface BreakerStore {
  /** Opens it for so long from now, for all. */
  openBreaker(breaker: OpenBreaker): Promise<void>;
  /** Whoever calls the service again may; also when none is open. */
  closeBreaker(service: Pick<OpenBreaker, "name" | "scope">): Promise<void>;
  /** Those that are open now, in all scopes. */
  listOpenBreakers(): Promise<OpenBreaker[]>;
}
