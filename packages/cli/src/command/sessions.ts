import { type Command, numberOf } from "../command.ts";
import { CONNECTION_HELP, CONNECTION_OPTIONS, withConnection } from "../connection.ts";
import { oneLine, printJson } from "../terminal/print.ts";
import { table } from "../terminal/table.ts";

const SHOWN = 20;

export const command: Command = {
  usage: "[--limit <n>] [--json]",
  arguments: [0, 0],
  options: { ...CONNECTION_OPTIONS, limit: { type: "string" }, json: { type: "boolean" } },
  help: [
    `--limit <n>              how many, newest first (${SHOWN})`,
    "--json                   as the API gives them",
    ...CONNECTION_HELP,
  ],
  async run(context, args) {
    const limit = numberOf(args, "limit") ?? SHOWN;
    return withConnection(context, args, async ({ client, again, place }) => {
      const page = await client.listSessions({ limit });
      if (args.flag("json")) printJson(context, page);
      else if (page.sessions.length === 0)
        context.output.write(`No sessions at ${place} yet. \`${again("chat")}\` begins one.\n`);
      else {
        const rows = page.sessions.map((session) => [
          session.id,
          session.status,
          String(session.message_count),
          session.updated_at.slice(0, 16).replace("T", " "),
          oneLine(session.title ?? "", 60),
        ]);
        context.output.write(table(["SESSION", "STATUS", "MESSAGES", "UPDATED", "TITLE"], rows));
        const more = page.total - page.sessions.length;
        if (more > 0) context.output.write(`and ${more} more\n`);
      }
    });
  },
};
