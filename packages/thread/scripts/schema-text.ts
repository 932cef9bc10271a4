import type { Database } from "../src/sql/database.ts";

/** The schema as the engine itself tells it, one statement after the other, in an order that does not vary. */
export async function schemaText(db: Database): Promise<string> {
  const parts = db.dialect.name === "sqlite" ? [SQLITE] : [PG_FUNCTIONS, PG_TABLES, PG_INDEXES, PG_POLICIES];
  const results = await db.readAll(parts.map((sql) => ({ sql, params: [] })));
  const statements = results.flatMap(({ rows }) => rows.map((row) => `${row["sql"]};\n`));
  return statements.join("\n");
}

const SQLITE = `select sql from sqlite_master where sql is not null and name not like 'sqlite_%'
  order by tbl_name, type desc, name`;

const PG_FUNCTIONS = `select rtrim(pg_get_functiondef(p.oid), E'\\n') as sql from pg_proc p
  where p.pronamespace = current_schema()::regnamespace order by p.proname`;

const PG_COLUMNS = `select string_agg(
    '  ' || a.attname || ' ' || format_type(a.atttypid, a.atttypmod)
      || case when a.attcollation <> t.typcollation then ' collate "' || l.collname || '"' else '' end
      || case when a.attidentity = 'a' then ' generated always as identity' else '' end
      || coalesce(' default ' || pg_get_expr(d.adbin, d.adrelid), '')
      || case when a.attnotnull then ' not null' else '' end, E',\\n' order by a.attnum)
  from pg_attribute a
  join pg_type t on t.oid = a.atttypid
  left join pg_collation l on l.oid = a.attcollation
  left join pg_attrdef d on d.adrelid = a.attrelid and d.adnum = a.attnum
  where a.attrelid = c.oid and a.attnum > 0 and not a.attisdropped`;

/** PostgreSQL 18 lists "not null" among the constraints too; the columns say it already. */
const PG_CONSTRAINTS = `select string_agg(E',\\n  ' || pg_get_constraintdef(k.oid), '' order by k.contype, k.conname)
  from pg_constraint k where k.conrelid = c.oid and k.contype <> 'n'`;

const PG_TABLES = `select 'create table ' || c.relname || E' (\\n' || (${PG_COLUMNS})
    || coalesce((${PG_CONSTRAINTS}), '') || E'\\n)' as sql
  from pg_class c where c.relkind = 'r' and c.relnamespace = current_schema()::regnamespace order by c.relname`;

/** Where row level security is not forced as well, the owner would be above the policy: it is told as what it then is. */
const PG_POLICIES = `select 'create policy ' || p.polname || ' on ' || c.relname
    || case when c.relrowsecurity and c.relforcerowsecurity then '' else ' /* not forced */' end
    || ' using (' || pg_get_expr(p.polqual, p.polrelid) || ')' as sql
  from pg_policy p join pg_class c on c.oid = p.polrelid
  where c.relnamespace = current_schema()::regnamespace order by c.relname, p.polname`;

const PG_INDEXES = `select pg_get_indexdef(i.indexrelid) as sql from pg_index i
  join pg_class c on c.oid = i.indexrelid
  where c.relnamespace = current_schema()::regnamespace
    and not exists (select 1 from pg_constraint k where k.conindid = i.indexrelid)
  order by c.relname`;
