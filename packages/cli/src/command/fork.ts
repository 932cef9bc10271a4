import type { Command } from "../command.ts";
import { CONNECTION_HELP, CONNECTION_OPTIONS, withConnection } from "../connection.ts";
import { printJson } from "../terminal/print.ts";

export const command: Command = {
  usage: "<session> [--checkpoint <id> | --message <id>] [--title <text>] [--json]",
  arguments: [1, 1],
  options: {
    ...CONNECTION_OPTIONS,
    checkpoint: { type: "string" },
    message: { type: "string" },
    title: { type: "string" },
    json: { type: "boolean" },
  },
  help: [
    "--checkpoint, --message  where the new session starts; where the old one stands by default",
    "--title <text>           of the new session",
    "--json                   the new session as the API gives it",
    ...CONNECTION_HELP,
  ],
  async run(context, args) {
    const [session_id = ""] = args.positionals;
    const [checkpoint_id, message_id, title] = [args.text("checkpoint"), args.text("message"), args.text("title")];
    return withConnection(context, args, async ({ client }) => {
      const session = await client.forkSession(session_id, {
        ...(checkpoint_id !== undefined && { checkpoint_id }),
        ...(message_id !== undefined && { message_id }),
        ...(title !== undefined && { title }),
      });
      if (args.flag("json")) printJson(context, session);
      else context.output.write(`${session.id}\n`);
    });
  },
};
