import type { Client } from "@cognition/client";
import type { Session } from "@cognition/contract";
import { converse } from "../chat/conversation.ts";
import { createEventPrinter } from "../chat/event-printer.ts";
import { openPrompt } from "../chat/prompt.ts";
import { type Arguments, type Command, misuse } from "../command.ts";
import { CONNECTION_HELP, CONNECTION_OPTIONS, type Connection, connect } from "../connection.ts";
import type { Context } from "../context.ts";
import { counted, oneLine } from "../terminal/print.ts";

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
    if (args.text("session") !== undefined && args.flag("last")) throw misuse("--session or --last, not both");
    const connection = await connect(context, args, { works: true });
    try {
      return await talk(context, args, connection);
    } finally {
      await connection.close();
    }
  },
};

async function talk(context: Context, args: Arguments, { client, place, again }: Connection): Promise<number> {
  const session = await findSession(client, args);
  const agent = args.text("agent");
  // Passed over in silence, it would let another agent write than the one that was asked for.
  if (session && agent !== undefined && agent !== session.agent_name)
    throw misuse(`--agent is for a new session; the session's agent is "${session.agent_name}"`);
  if (!args.flag("json")) greet(context, place, session);
  // Not before there is something to talk about: from here on Ctrl-C does not end the program by itself.
  const prompt = openPrompt(context);
  try {
    return await converse({
      client,
      prompt,
      printer: createEventPrinter(context.output, args.flag("json")),
      say: (text) => context.errors.write(`${text}\n`),
      session,
      again,
      agent,
      model: args.text("model"),
      onGone: (leave) => {
        context.output.on("error", leave);
        // Once: a second one ends the process, however long its server takes to stop.
        const onTerminate = () => {
          context.signals.off("SIGTERM", onTerminate);
          leave();
        };
        context.signals.on("SIGTERM", onTerminate);
        // At each: a closed terminal is told of by the system and again by the shell, and the server still hands its work over.
        context.signals.on("SIGHUP", leave);
      },
    });
  } finally {
    prompt.close();
  }
}

async function findSession(client: Client, args: Arguments): Promise<Session | undefined> {
  const id = args.text("session");
  if (id !== undefined) return client.getSession(id);
  return args.flag("last") ? (await client.listSessions({ limit: 1 })).sessions[0] : undefined;
}

function greet({ output }: Context, place: string, session: Session | undefined): void {
  const going = session
    ? `"${oneLine(session.title ?? session.id, 60)}" goes on, ${counted(session.message_count, "message")} so far.`
    : "Try: List the files in this directory.";
  output.write(
    `Cognition at ${place}\n${going}\nCtrl-C stops the agent, and once more the program; /help tells more.\n\n`,
  );
}
