import { withoutPassword } from "@cognition/server/operator";
import type { Arguments } from "../command.ts";
import type { Context } from "../context.ts";
import { commandName } from "./command-name.ts";

/** What is typed to do something in the same place as this command does: without the secret that was given to it. */
export function again(env: Context["env"], args: Arguments, what: string): string {
  const single = ["url", "workspace", "storage"].map((name) => ({ name, value: shown(args.text(name)) }));
  const given = [...single, ...args.list("scope").map((value) => ({ name: "scope", value }))];
  const flags = given.map(({ name, value }) => (value === undefined ? "" : ` --${name} ${quoted(value)}`));
  return `${commandName(env)} ${what}${flags.join("")}`;
}

function shown(value: string | undefined): string | undefined {
  return value !== undefined && /^[a-z0-9+]+:\/\//i.test(value) ? withoutPassword(value) : value;
}

/** As a shell takes it for one word. */
function quoted(text: string): string {
  return /^[\w@%+=:,./-]+$/.test(text) ? text : `'${text.replaceAll("'", "'\\''")}'`;
}
