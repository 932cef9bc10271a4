import { dirname, resolve } from "node:path";
import { AppError } from "@cognition/contract";
import { checkLayer, mergeValues } from "./config/check-layer.ts";
import { type Config, ConfigSchema } from "./config/config-schema.ts";
import { environmentLayer } from "./config/environment-layer.ts";
import { fileLayer, findConfigFolder } from "./config/file-layer.ts";
import { type Flags, flagLayer } from "./config/flag-layer.ts";
import { type Layer, valueAt } from "./config/layer.ts";
import { listOptions } from "./config/list-options.ts";
import { describeOrigin, type Origin } from "./config/origin.ts";
import type { Environment } from "./model/key-ring.ts";

export interface LoadConfigOptions {
  readonly env: Environment;
  readonly cwd: string;
  /** Whose `.cognition/config.yaml` comes first; none where there is no home. */
  readonly home?: string | undefined;
  readonly flags?: Flags | undefined;
}

interface Sources extends Pick<LoadConfigOptions, "env" | "cwd"> {
  readonly flags: Flags;
}

export interface LoadedConfig {
  readonly config: Config;
  /** By path (`server.port`), for every key there is. */
  readonly origins: ReadonlyMap<string, Origin>;
}

/**
 * Defaults < the home's file < the nearest project's file < the workspace's own file < environment < flags. Throws
 * `unknown_config_key` or `invalid_config` with the place of every fault; nothing unknown is passed over.
 */
export function loadConfig({ env, cwd, home, flags = {} }: LoadConfigOptions): LoadedConfig {
  const sources: Sources = { env, cwd, flags };
  const folders = [home === undefined ? undefined : resolve(home), findConfigFolder(cwd)].flatMap(
    (folder) => folder ?? [],
  );
  const loaded = loadFrom(folders, sources);
  // Whoever serves another folder than the one he stands in has its settings beside its agents and tools.
  const { root } = loaded.config.workspace;
  const all = folders.includes(root) ? loaded : loadFrom([...folders, root], sources);
  checkTogether(all.config, all.origins);
  return all;
}

function loadFrom(folders: readonly string[], { env, cwd, flags }: Sources): LoadedConfig {
  const options = listOptions();
  const keysAt = (path: string) =>
    keysBelow(
      options.map((option) => option.path),
      path,
    );
  const layers = [
    ...[...new Set(folders)].flatMap((folder) => fileLayer(folder, env) ?? []),
    environmentLayer(env, options),
    flagLayer(flags),
  ];
  const values = layers.map((layer) => checkLayer(ConfigSchema, layer, keysAt));
  const origins = new Map(options.map(({ path }) => [path, originOf(path, layers)]));
  const keys = new Set(origins.keys());
  const config = ConfigSchema.parse(values.reduce((under, over) => mergeValues(under, over, keys) as typeof under, {}));
  return { config: { ...config, workspace: { ...config.workspace, root: rootOf(config, origins, cwd) } }, origins };
}

/** Nothing but defaults, for programs that bring their own settings. */
export function defaultConfig(): Config {
  return ConfigSchema.parse({});
}

function originOf(path: string, layers: readonly Layer[]): Origin {
  const keys = path.split(".");
  const layer = layers.findLast(({ value }) => valueAt(value, keys) !== undefined);
  return layer?.originOf(keys) ?? { from: "default" };
}

function rootOf(config: Config, origins: LoadedConfig["origins"], cwd: string): string {
  const origin = origins.get("workspace.root");
  const base = origin?.from === "file" ? dirname(dirname(origin.file)) : cwd;
  return resolve(base, config.workspace.root);
}

function checkTogether(config: Config, origins: LoadedConfig["origins"]): void {
  const fail = (path: string, problem: string) => {
    const place = describeOrigin(origins.get(path) ?? { from: "default" });
    throw new AppError("invalid_config", `${place}: ${path} ${problem}. Nothing was started.`);
  };
  const { pool } = config.persistence;
  if (pool.min > pool.max) fail("persistence.pool.min", `is ${pool.min}, more than persistence.pool.max (${pool.max})`);
  const { provider, url } = config.tools.search;
  if (provider === "searxng" && url === undefined)
    fail("tools.search.provider", "is searxng, which needs tools.search.url");
  const { redo_keep, checkpoints_keep_last, checkpoints_max_age_days } = config.retention;
  if (redo_keep !== undefined && checkpoints_keep_last === undefined && checkpoints_max_age_days === undefined)
    fail("retention.redo_keep", "needs retention.checkpoints_keep_last or retention.checkpoints_max_age_days");
}

function keysBelow(paths: readonly string[], parent: string): string[] {
  const depth = parent === "" ? 0 : parent.split(".").length;
  const below = paths.filter((path) => parent === "" || path.startsWith(`${parent}.`));
  return [...new Set(below.map((path) => path.split(".")[depth] ?? ""))];
}
