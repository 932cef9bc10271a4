import type { Command } from "./command.ts";

interface Entry {
  readonly summary: string;
  /** Each is loaded when it is called: a list of sessions does not wait for the agent engine. */
  readonly load: () => Promise<{ readonly command: Command }>;
}

export const COMMANDS: Readonly<Record<string, Entry>> = {
  serve: { summary: "Starts the server", load: () => import("./command/serve.ts") },
  chat: { summary: "Talks to an agent in the terminal", load: () => import("./command/chat.ts") },
  sessions: { summary: "Lists sessions", load: () => import("./command/sessions.ts") },
  log: { summary: "Draws a session's tree of checkpoints", load: () => import("./command/log.ts") },
  fork: { summary: "Starts a new session from a point of another", load: () => import("./command/fork.ts") },
  rewind: { summary: "Puts a session back to an earlier point", load: () => import("./command/rewind.ts") },
  keys: { summary: "Makes, lists and revokes API keys", load: () => import("./command/keys.ts") },
  db: { summary: "Shows or upgrades the database's schema", load: () => import("./command/db.ts") },
  config: { summary: "Prints the configuration and where it comes from", load: () => import("./command/config.ts") },
  doctor: { summary: "Checks that everything works, and repairs", load: () => import("./command/doctor.ts") },
};
