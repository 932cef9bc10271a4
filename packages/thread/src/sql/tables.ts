import type { AccessTables } from "./access-tables.ts";
import type { FileTables } from "./file-tables.ts";
import type { RegistryTables } from "./registry-tables.ts";
import type { RunTables } from "./run-tables.ts";
import type { ThreadTables } from "./thread-tables.ts";
import type { UserTables } from "./user-tables.ts";

/** The columns as the drivers give them: JSON and times are text, flags are 0 and 1. */
export interface Tables extends AccessTables, FileTables, RegistryTables, RunTables, ThreadTables, UserTables {}
