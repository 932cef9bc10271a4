import { type OpenStorageOptions, storageTarget } from "@cognition/thread";
import type { Config } from "./config-schema.ts";

export interface StorageSettings {
  readonly options: OpenStorageOptions;
  /** The file, where it is one: no agent may read it. */
  readonly state_database?: string;
  /** For people: the file, or the database without its password. */
  readonly place: string;
}

/** What `openStorage` takes of the configuration. Throws where backend and URI don't fit each other. */
export function storageSettings({ persistence, workspace, sse }: Config): StorageSettings {
  const { backend, uri, pool } = persistence;
  const options = {
    workspace: workspace.root,
    pool,
    recent_events: sse.buffer_size,
    ...(backend !== undefined && { backend }),
    ...(uri !== undefined && { uri }),
  };
  const target = storageTarget(options);
  if (target.backend === "sqlite") return { options, state_database: target.path, place: `sqlite, ${target.path}` };
  return {
    options,
    place: target.backend === "memory" ? "memory, lost at the end" : `postgres, ${withoutPassword(target.url)}`,
  };
}

export function withoutPassword(url: string): string {
  const shown = new URL(url);
  if (shown.password !== "") shown.password = "***";
  if (shown.searchParams.has("password")) shown.searchParams.set("password", "***");
  return shown.href;
}
