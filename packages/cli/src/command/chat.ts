import type { Client } from "@cognition/client";
import type { Session } from "@cognition/contract";
import { converse } from "../chat/conversation.ts";
import { createEventPrinter } from "../chat/event-printer.ts";
import { openPrompt } from "../chat/prompt.ts";
import type { Arguments, Command } from "../command.ts";
import { CONNECTION_HELP, CONNECTION_OPTIONS, connect } from "../connection.ts";
import type { Context } from "../context.ts";
import { oneLine } from "../terminal/print.ts";

export const command: Command = {
  usage: "[--session <id> | --last] [--agent <name>] [--url <address>]",
  arguments: [0, 0],
  options: {
    ...CONNECTION_OPTIONS,
    session: { type: "string" },
    last: { type: "boolean" },
    agent: { type: "string" },
    model: { type: "string" },
    json: { type: "boolean" },
  },
  help: [
    "--session <id>           goes on with an earlier session; --last with the newest",
    "--agent <name>           who answers in a new session",
    "--model <name>           which model answers",
    "--json                   prints each event as a line of JSON",
    ...CONNECTION_HELP,
  ],
  async run(context, args) {
    const connection = await connect(context, args, { works: true });
    const prompt = openPrompt(context);
    try {
      const session = await findSession(connection.client, args);
      if (!args.flag("json")) greet(context, connection.place, session);
      return await converse({
        client: connection.client,
        prompt,
        printer: createEventPrinter(context.output, args.flag("json")),
        say: (text) => context.errors.write(`${text}\n`),
        session,
        flags: connection.flags,
        agent: args.text("agent"),
        model: args.text("model"),
        onGone: (leave) => {
          context.output.on("error", leave);
          // Once: a second one ends the process, however long its server takes to stop.
          const onTerminate = () => {
            context.signals.off("SIGTERM", onTerminate);
            leave();
          };
          context.signals.on("SIGTERM", onTerminate);
        },
      });
    } finally {
      prompt.close();
      await connection.close();
    }
  },
};

async function findSession(client: Client, args: Arguments): Promise<Session | undefined> {
  const id = args.text("session");
  if (id !== undefined) return client.getSession(id);
  return args.flag("last") ? (await client.listSessions({ limit: 1 })).sessions[0] : undefined;
}

function greet({ output }: Context, place: string, session: Session | undefined): void {
  const going = session
    ? `"${oneLine(session.title ?? session.id, 60)}" goes on, ${session.message_count} messages so far.`
    : "Try: List the files in this directory.";
  output.write(
    `Cognition in ${place}\n${going}\nCtrl-C stops the agent, and once more the program; /help tells more.\n\n`,
  );
}
