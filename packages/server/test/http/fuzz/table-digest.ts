import { createHash } from "node:crypto";
import { DatabaseSync } from "node:sqlite";

/** What stands in the tables of a SQLite file, told in few bytes; looked at through a connection of its own. */
export function openDigest(file: string) {
  const database = new DatabaseSync(file, { readOnly: true });
  const tables = database
    .prepare("select name from sqlite_master where type = 'table' and name not like 'sqlite_%' order by name")
    .all()
    .map(({ name }) => String(name));
  let version: unknown;
  let digests = new Map<string, string>();

  function digestOf(table: string): string {
    const hash = createHash("sha256");
    for (const row of database.prepare(`select * from "${table}"`).iterate()) {
      hash.update(
        JSON.stringify(Object.values(row).map((value) => (value instanceof Uint8Array ? [...value] : value))),
      );
    }
    return hash.digest("base64url");
  }

  return {
    /** Runs that wait for a node or are with one. */
    openRuns: () => {
      const query = "select count(*) as n from runs where status in ('queued', 'running')";
      return Number(database.prepare(query).get()?.["n"]);
    },
    /** The tables that are not as they were when this was last asked. */
    changed(): string[] {
      const now = database.prepare("pragma data_version").get()?.["data_version"];
      if (now === version) return [];
      version = now;
      const fresh = new Map(tables.map((table) => [table, digestOf(table)]));
      const before = digests;
      digests = fresh;
      return tables.filter((table) => fresh.get(table) !== before.get(table));
    },
    close: () => database.close(),
  };
}
