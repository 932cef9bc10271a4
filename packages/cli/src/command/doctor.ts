import { AppError, isAppError } from "@cognition/contract";
import { compose, type Runtime } from "@cognition/server";
import { storageSettings } from "@cognition/server/operator";
import { type OpenStorageOptions, openStorage, type Storage } from "@cognition/thread";
import type { Command } from "../command.ts";
import { CONFIG_HELP, CONFIG_OPTIONS, configOf } from "../config-flags.ts";
import type { Context } from "../context.ts";
import { EXIT } from "../exit-code.ts";
import { repairMessages } from "../repair-messages.ts";
import { counted, plainText, printJson } from "../terminal/print.ts";

interface Check {
  readonly name: string;
  readonly state: "ok" | "warning" | "failed";
  readonly message: string;
}

export const command: Command = {
  usage: "[--repair] [--offline] [--json]",
  arguments: [0, 0],
  options: { ...CONFIG_OPTIONS, repair: { type: "boolean" }, offline: { type: "boolean" }, json: { type: "boolean" } },
  help: [
    "--repair                 upgrades the database, and rebuilds every session's messages from its checkpoints",
    "--offline                does not call model providers (a call costs a few tokens)",
    "--json                   for programs; exit code 1 if anything failed",
    ...CONFIG_HELP,
  ],
  async run(context, args) {
    const checks: Check[] = [];
    const note = (check: Check) => {
      checks.push(check);
      if (!args.flag("json"))
        context.output.write(plainText(`${MARKS[check.state]} ${check.name}: ${check.message}\n`));
    };
    await examine(context, note, args);
    const failed = checks.some(({ state }) => state === "failed");
    if (args.flag("json")) printJson(context, { ok: !failed, checks });
    return failed ? EXIT.failed : EXIT.ok;
  },
};

const MARKS = { ok: "ok     ", warning: "warning", failed: "FAILED " };
type Note = (check: Check) => void;
type Args = Parameters<Command["run"]>[1];

/** Each step needs the one before it; the first that fails is where it ends. */
async function examine(context: Context, note: Note, args: Args): Promise<void> {
  const config = await attempt(
    "configuration",
    note,
    async () => configOf(context, args).config,
    () => "valid",
  );
  if (!config) return;
  const storage = await attempt(
    "storage",
    note,
    () => openAsItIs(storageSettings(config).options, args.flag("repair")),
    async (opened) => {
      const { latency_ms, schema_version } = await opened.healthCheck();
      return `${storageSettings(config).place}; schema ${schema_version}; answers in ${Math.ceil(latency_ms)} ms`;
    },
  );
  if (!storage) return;
  try {
    await examineSessions(storage, note, args.flag("repair"));
    const { root } = config.workspace;
    const options = { storage, workspace_root: root, env: context.env, config, works: false, onError: () => {} };
    const runtime = await attempt(
      "server",
      note,
      () => compose(options),
      ({ sandboxes }) => `can start, with the ${sandboxes.describe().backend} sandbox`,
    );
    if (!runtime) return;
    try {
      for (const message of runtime.sandboxes.describe().warnings) note({ name: "sandbox", state: "warning", message });
      await examineDefinitions(runtime, note);
      await examineProviders(runtime, note, args.flag("offline"));
    } finally {
      await runtime.close(0);
    }
  } finally {
    await storage.close();
  }
}

/** An older database is only looked at: whoever checks before an upgrade does not mean to make it. */
async function openAsItIs(options: OpenStorageOptions, repair: boolean): Promise<Storage> {
  try {
    return await openStorage({ ...options, migrate: false });
  } catch (error) {
    if (!isAppError(error, "schema_outdated")) throw error;
    const { version, program } = error.details;
    if (repair || version === 0) return openStorage(options);
    throw new AppError(
      "schema_outdated",
      `The database is at schema ${version} and this program needs ${program}. Nothing was changed; the start of a server, ` +
        "`cognition db migrate` or `--repair` upgrades it.",
      { details: error.details, cause: error },
    );
  }
}

async function examineSessions(storage: Storage, note: Note, repair: boolean): Promise<void> {
  const count = await storage.countSessions();
  if (!repair) {
    note({ name: "sessions", state: "ok", message: `${count}; --repair rebuilds their messages from the checkpoints` });
    return;
  }
  await attempt(
    "sessions",
    note,
    () => repairMessages(storage),
    ({ sessions, messages, changed }) =>
      `${sessions} checked with ${counted(messages, "message")}; ${changed === 0 ? "all as they should be" : `${counted(changed, "message")} set right`}`,
  );
}

async function examineDefinitions({ agents, tools }: Runtime, note: Note): Promise<void> {
  await tools.ask(); // those MCP servers that do not answer are among the problems
  const problems = [...(await agents.problems()), ...(await tools.problems())];
  for (const { message } of problems) note({ name: "definitions", state: "warning", message });
  if (problems.length === 0)
    note({ name: "definitions", state: "ok", message: "agents, skills and tools can be read" });
}

async function examineProviders({ models }: Runtime, note: Note, offline: boolean): Promise<void> {
  const enabled = (await models.list()).filter((provider) => provider.enabled);
  if (enabled.length === 0) note({ name: "models", state: "failed", message: "no provider is enabled" });
  for (const { id, provider } of enabled) {
    const name = `model ${id}`;
    if (provider === "offline") {
      note({
        name,
        state: "warning",
        message: "the built-in model answers; set OPENAI_API_KEY or ANTHROPIC_API_KEY for a real one",
      });
    } else if (offline) note({ name, state: "ok", message: "configured, not called" });
    else {
      const { ok, model, latency_ms, error } = await models.test(id);
      note({
        name,
        state: ok ? "ok" : "failed",
        message: ok ? `${model} answers in ${latency_ms} ms` : (error?.message ?? "no answer"),
      });
    }
  }
}

async function attempt<T>(
  name: string,
  note: Note,
  work: () => Promise<T>,
  describe: (value: T) => string | Promise<string>,
): Promise<T | undefined> {
  try {
    const value = await work();
    note({ name, state: "ok", message: await describe(value) });
    return value;
  } catch (error) {
    if (!isAppError(error)) throw error;
    note({ name, state: "failed", message: error.message });
    return undefined;
  }
}
