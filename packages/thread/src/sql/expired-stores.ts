import type { Scope } from "@cognition/contract";
import type { Database } from "./database.ts";

export async function expiredStores({ dialect, readAll }: Database): Promise<Scope[]> {
  const sql = `select distinct scope from store_items where expires_at <= (select ${dialect.nowMs}) order by scope`;
  const [found] = await readAll([{ sql, params: [] }]);
  return (found?.rows ?? []).map(({ scope }) => JSON.parse(String(scope)) as Scope);
}
