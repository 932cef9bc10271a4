import type { Dialect } from "../dialect.ts";

/** Forward only. A released one never changes: `hashes.json` holds what it was. */
export interface Migration {
  version: number;
  name: string;
  /**
   * The lowest schema version a program must know to use the database after this migration. It stays at the previous
   * release's version while a migration only expands, so that old and new nodes run side by side.
   */
  oldestProgram: number;
  up(dialect: Dialect): string[];
}
