import { existsSync } from "node:fs";
import { resolve } from "node:path";
import { isAppError } from "@cognition/contract";
import { storageSettings } from "@cognition/server/operator";
import { backupSqlite, openStorage } from "@cognition/thread";
import { type Command, misuse } from "../command.ts";
import { CONFIG_HELP, CONFIG_OPTIONS, configOf } from "../config-flags.ts";
import type { Context } from "../context.ts";
import { EXIT } from "../exit-code.ts";
import { printJson } from "../terminal/print.ts";

type Settings = ReturnType<typeof storageSettings>;

/** `schema` is null where there is no database yet. */
interface Status {
  readonly storage: string;
  readonly state: "current" | "outdated" | "missing";
  readonly schema: number | null;
}

export const command: Command = {
  usage: "status | migrate | backup <file> [--json]",
  arguments: [1, 2],
  options: { ...CONFIG_OPTIONS, json: { type: "boolean" } },
  help: [
    "status                   what schema the database is at; changes nothing; exit code 1 if it must be upgraded",
    "migrate                  makes or upgrades it, as a server does when it starts",
    "backup <file>            copies a SQLite database as it is now, while servers go on working",
    "--json                   for programs",
    ...CONFIG_HELP,
  ],
  async run(context, args) {
    const [action, file] = args.positionals;
    const settings = storageSettings(configOf(context, args).config);
    if (action === "backup") {
      const target = backup(context, settings, file);
      if (args.flag("json")) printJson(context, { file: target });
      else context.output.write(`${target}\n`);
      return EXIT.ok;
    }
    if (action !== "status" && action !== "migrate") throw misuse(`status, migrate or backup, not "${action}"`);
    if (file !== undefined) throw misuse(`there is no place for "${file}"`);
    const before = await statusOf(settings);
    const after = action === "migrate" ? await migrate(settings) : before;
    if (args.flag("json")) printJson(context, action === "migrate" ? { ...after, before: before.schema } : after);
    else context.output.write(action === "migrate" ? describeChange(before, after) : describe(after));
    return after.state === "outdated" ? EXIT.failed : EXIT.ok;
  },
};

function backup(context: Context, { state_database }: Settings, file: string | undefined): string {
  if (file === undefined) throw misuse("name the file to write: cognition db backup <file>");
  if (state_database === undefined) throw misuse("only a SQLite database is copied so; for PostgreSQL use pg_dump");
  const target = resolve(context.cwd, file);
  backupSqlite({ path: state_database, target });
  return target;
}

async function statusOf(settings: Settings): Promise<Status> {
  const { options, state_database, place: storage } = settings;
  // Opening would make the file.
  if (state_database !== undefined && !existsSync(state_database)) return { storage, state: "missing", schema: null };
  try {
    const opened = await openStorage({ ...options, migrate: false });
    try {
      return { storage, state: "current", schema: (await opened.healthCheck()).schema_version ?? null };
    } finally {
      await opened.close();
    }
  } catch (error) {
    if (!isAppError(error, "schema_outdated")) throw error;
    const { version } = error.details;
    return { storage, state: "outdated", schema: typeof version === "number" ? version : null };
  }
}

async function migrate({ options, place: storage }: Settings): Promise<Status> {
  const opened = await openStorage(options);
  try {
    return { storage, state: "current", schema: (await opened.healthCheck()).schema_version ?? null };
  } finally {
    await opened.close();
  }
}

function describe({ storage, state, schema }: Status): string {
  if (state === "missing")
    return `${storage}: not there yet; it is made when a server starts, or by \`cognition db migrate\`\n`;
  if (state === "current") return `${storage}: schema ${schema}, current\n`;
  return `${storage}: schema ${schema}, must be upgraded: \`cognition db migrate\`\n`;
}

function describeChange(before: Status, after: Status): string {
  if (before.state === "current") return `${after.storage}: schema ${after.schema}, nothing to do\n`;
  return `${after.storage}: schema ${before.schema ?? "none"} -> ${after.schema}\n`;
}
