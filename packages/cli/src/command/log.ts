import type { Checkpoint } from "@cognition/contract";
import { type Command, numberOf } from "../command.ts";
import { CONNECTION_HELP, CONNECTION_OPTIONS, withConnection } from "../connection.ts";
import { drawTree } from "../terminal/draw-tree.ts";
import { counted, oneLine, printJson } from "../terminal/print.ts";

const SHOWN = 50;

export const command: Command = {
  usage: "<session> [--limit <n>] [--json]",
  arguments: [1, 1],
  options: { ...CONNECTION_OPTIONS, limit: { type: "string" }, json: { type: "boolean" } },
  help: [
    `--limit <n>              how many, newest first (${SHOWN})`,
    "--json                   as the API gives them",
    ...CONNECTION_HELP,
  ],
  async run(context, args) {
    const [session_id = ""] = args.positionals;
    const limit = numberOf(args, "limit") ?? SHOWN;
    return withConnection(context, args, async ({ client }) => {
      const page = await client.listCheckpoints(session_id, { limit });
      if (args.flag("json")) printJson(context, page);
      else {
        const lines = drawTree(page.checkpoints).map(({ graph, node }) =>
          node ? `${graph} ${describe(node)}` : graph,
        );
        context.output.write(`${lines.join("\n")}\n${page.has_more ? "…\n" : ""}`);
      }
    });
  },
};

function describe({ id, is_head, created_at, message_count, summary, next }: Checkpoint): string {
  const head = is_head ? "  <- here" : "";
  const waiting = next.length > 0 && is_head ? `  next: ${next.join(", ")}` : "";
  return `${id}  ${created_at.slice(0, 19).replace("T", " ")}  ${counted(message_count, "message")}  ${oneLine(summary, 60)}${waiting}${head}`;
}
