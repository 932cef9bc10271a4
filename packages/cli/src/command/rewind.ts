import type { RewindResult, RewindSessionInput } from "@cognition/contract";
import { type Arguments, type Command, misuse } from "../command.ts";
import { CONNECTION_HELP, CONNECTION_OPTIONS, withConnection } from "../connection.ts";
import { plainText, printJson } from "../terminal/print.ts";

export const command: Command = {
  usage:
    "<session> (--last turn | --last tool | --checkpoint <id> | --message <id>) [--no-files] [--dry-run] [--force] [--json]",
  arguments: [1, 1],
  options: {
    ...CONNECTION_OPTIONS,
    checkpoint: { type: "string" },
    message: { type: "string" },
    last: { type: "string" },
    "no-files": { type: "boolean" },
    "dry-run": { type: "boolean" },
    force: { type: "boolean" },
    json: { type: "boolean" },
  },
  help: [
    "--last turn              before your last message; --last tool: before the agent's last action",
    "--checkpoint, --message  any other point of `cognition log`",
    "--no-files               the conversation alone; files stay as they are",
    "--dry-run                only tell what would change",
    "--force                  also over files that others changed since",
    "--json                   as the API gives it",
    ...CONNECTION_HELP,
  ],
  async run(context, args) {
    const [session_id = ""] = args.positionals;
    const place = placeOf(args);
    const dry_run = args.flag("dry-run");
    return withConnection(context, args, async ({ client, again }) => {
      const force = args.flag("force");
      const alone = args.flag("no-files");
      const result = await client.rewindSession(session_id, {
        ...place,
        ...(alone && { restore: ["conversation"] }),
        dry_run,
        force,
      });
      if (args.flag("json")) printJson(context, result);
      else {
        const redo = again(`rewind ${session_id}${alone ? " --no-files" : ""}`);
        context.output.write(describe(result, redo, dry_run));
      }
    });
  },
};

function placeOf(args: Arguments): Pick<RewindSessionInput, "checkpoint_id" | "message_id" | "last"> {
  const [checkpoint_id, message_id, last] = [args.text("checkpoint"), args.text("message"), args.text("last")];
  const given = [checkpoint_id, message_id, last].filter((value) => value !== undefined);
  if (given.length !== 1) throw misuse("name one point: --last, --checkpoint or --message");
  if (checkpoint_id !== undefined) return { checkpoint_id };
  if (message_id !== undefined) return { message_id };
  if (last !== "turn" && last !== "tool") throw misuse(`--last must be turn or tool, not "${last}"`);
  return { last };
}

/** `redo` is the command that goes back, but for the place. */
function describe({ head, previous_head, files }: RewindResult, redo: string, dry_run: boolean): string {
  const changes = files.map(({ path, change }) => `  ${change} ${plainText(path)}\n`).join("");
  if (dry_run) return `Would go back to ${head ?? "before the first message"}.\n${changes}`;
  const back = previous_head ? `Redo: ${redo} --checkpoint ${previous_head}\n` : "";
  return `The session stands at ${head} again.\n${changes}${back}`;
}
