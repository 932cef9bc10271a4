import type { Scope } from "@cognition/contract";
import { type Selectable, sql } from "kysely";
import type { DefinitionStore, RevisionStore, StoredDefinition } from "../definition-store.ts";
import type { SqlContext } from "./context.ts";
import { placeholders } from "./dialect.ts";
import { jsonText, storedJson } from "./json-text.ts";
import { ONE } from "./limit.ts";
import { scopeText } from "./scope.ts";
import { changes, type Tx } from "./statement.ts";
import type { Tables } from "./tables.ts";

type Kind = "agents" | "providers";

export function createDefinitionStore(ctx: SqlContext, kind: Kind): DefinitionStore {
  const { db } = ctx;
  return {
    listDefinitions: async (scopes) => {
      if (scopes?.length === 0) return [];
      const query = db.q.selectFrom(kind).selectAll();
      const within = scopes ? query.where("scope", "in", scopes.map(scopeText)) : query;
      return (await db.read(within.orderBy("name").orderBy("scope"))).map(toDefinition);
    },
    findDefinition: async (name, scope) => {
      const query = db.q.selectFrom(kind).selectAll().where("scope", "=", scopeText(scope)).where("name", "=", name);
      const [row] = await db.read(query);
      return row ? toDefinition(row) : null;
    },
    putDefinition: async (definition, expected) => {
      const text = jsonText(definition.definition, "definition");
      return db.transaction(function* () {
        const stored = yield* put(ctx, kind, definition, text, expected);
        if (stored) yield* raiseVersion(ctx, kind);
        return stored;
      });
    },
    deleteDefinition: (name, scope) =>
      db.transaction(function* () {
        const gone = db.q.deleteFrom(kind).where("scope", "=", scopeText(scope)).where("name", "=", name);
        if ((yield* changes(gone)) === 0) return false;
        yield* raiseVersion(ctx, kind);
        return true;
      }),
    definitionVersion: () => definitionVersion(ctx, kind),
  };
}

export function createRevisionStore({ db, now }: SqlContext): RevisionStore {
  return {
    saveRevision: async ({ revision, scope, agent }) => {
      // Once, and not for each scope that uses it: an edit would store as many copies as there are users.
      const text = `insert into agent_revisions (revision, scope, agent, created_at) select ?, ?, ?, ?
        where not exists (select 1 from agent_revisions where revision = ?) on conflict do nothing`;
      const params = [revision, scopeText(scope), jsonText(agent, "agent"), now(), revision];
      await db.atomic([{ sql: placeholders(db.dialect, text), params }]);
    },
    findRevision: async (revision) => {
      const query = db.q.selectFrom("agent_revisions").select("agent").where("revision", "=", revision).limit(ONE);
      const [row] = await db.read(query);
      return row ? storedJson(row.agent, `Revision ${revision}`) : null;
    },
  };
}

export async function definitionVersion({ db }: SqlContext, kind: string): Promise<number> {
  const [row] = await db.read(db.q.selectFrom("definition_changes").select("version").where("kind", "=", kind));
  return row?.version ?? 0;
}

/** In the transaction of the change: whoever sees the new number also sees what changed. */
export function* raiseVersion({ db }: SqlContext, kind: string): Tx<void> {
  const raise = db.q.insertInto("definition_changes").values({ kind, version: 1 });
  yield* changes(
    raise.onConflict((conflict) =>
      conflict.column("kind").doUpdateSet({ version: sql<number>`definition_changes.version + 1` }),
    ),
  );
}

/** Compare-and-set: of two writers that saw the same, one changes no row. */
function* put(
  { db, now }: SqlContext,
  kind: Kind,
  { name, scope, hash }: StoredDefinition,
  definition: string,
  expected: string | null | undefined,
): Tx<boolean> {
  const at = now();
  const fresh = { definition, hash, updated_at: at };
  if (typeof expected === "string") {
    const own = db.q.updateTable(kind).where("scope", "=", scopeText(scope)).where("name", "=", name);
    return (yield* changes(own.where("hash", "=", expected).set(fresh))) > 0;
  }
  const insert = db.q.insertInto(kind).values({ scope: scopeText(scope), name, created_at: at, ...fresh });
  const written = insert.onConflict((conflict) =>
    expected === null ? conflict.doNothing() : conflict.columns(["scope", "name"]).doUpdateSet(fresh),
  );
  return (yield* changes(written)) > 0;
}

function toDefinition(row: Selectable<Tables[Kind]>): StoredDefinition {
  const { name, hash } = row;
  return {
    name,
    scope: storedJson(row.scope, `The scope of ${name}`) as Scope,
    definition: storedJson(row.definition, `The definition of ${name}`),
    hash,
  };
}
