import type { Client } from "pg";

interface Column {
  name: string;
  type: string;
}

/** What a check constraint asks for; everything else takes any value. */
const PARTICULAR: Record<string, string> = { "chats.mode": "plan", "chat_messages.role": "user" };

export async function listTables(client: Client): Promise<string[]> {
  const { rows } = await client.query(
    "select relname from pg_class where relkind in ('r', 'p') and relnamespace = current_schema()::regnamespace order by 1",
  );
  return rows.map(({ relname }) => relname);
}

/**
 * One row in each table, of that scope. Every number is 1 and every text is "b", so that whatever a row refers to is
 * there: a table that is made tomorrow is filled as well.
 */
export async function fillTables(client: Client, tables: readonly string[], scope: string): Promise<void> {
  await client.query("set session_replication_role = replica");
  for (const table of tables) {
    const columns = await listColumns(client, table);
    const values = columns.map(({ name, type }) => anyValue(`${table}.${name}`, name, type, scope));
    const names = columns.map(({ name }) => `"${name}"`).join(", ");
    const places = columns.map((_, index) => `$${index + 1}`).join(", ");
    await client.query(`insert into ${table} (${names}) overriding system value values (${places})`, values);
  }
  await client.query("set session_replication_role = origin");
}

async function listColumns(client: Client, table: string): Promise<Column[]> {
  const { rows } = await client.query(
    `select attname as name, format_type(atttypid, null) as type from pg_attribute
     where attrelid = $1::regclass and attnum > 0 and not attisdropped order by attnum`,
    [table],
  );
  return rows;
}

function anyValue(path: string, column: string, type: string, scope: string): unknown {
  if (column === "scope") return scope;
  if (type === "bytea") return Buffer.from("b");
  return type === "text" ? (PARTICULAR[path] ?? "b") : 1;
}
