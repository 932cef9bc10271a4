import type { Query } from "./postgres-connections.ts";
import type { QueryResult, Statement } from "./statement.ts";

/**
 * How a read that names a scope is held to it by the database itself. `role`: this user is above the policies and takes
 * the request role. `setting`: the policies hold for this user, and a setting narrows them. `none`: it is above them and
 * may not take the role.
 */
export type Wall = "role" | "setting" | "none";

/** The migration's own name for it. */
const ROLE = "cognition_request";

const WHICH = `select case
    when not (rolsuper or rolbypassrls) then 'setting'
    when to_regrole('${ROLE}') is null then 'none'
    when not has_table_privilege('${ROLE}', 'sessions', 'select') then 'none'
    when pg_has_role(current_user, '${ROLE}', case when current_setting('server_version_num')::int >= 160000 then 'SET' else 'MEMBER' end)
      then 'role'
    else 'none'
  end as wall
  from pg_roles where rolname = current_user`;

const ENTER: Record<Exclude<Wall, "none">, string> = {
  role: `select set_config('cognition.scope', $1, true), set_config('role', '${ROLE}', true)`,
  setting: "select set_config('cognition.scope', $1, true)",
};

export interface PostgresWall {
  which(): Promise<Wall>;
  /** What goes ahead of the statements in their transaction, in the same flight; it ends with the transaction. */
  enter(scope: string): Promise<Query[]>;
}

/** Asked for at the first scoped read, once: the schema is there by then. */
export function createPostgresWall(read: (statements: readonly Statement[]) => Promise<QueryResult[]>): PostgresWall {
  let asked: Promise<Wall> | undefined;

  function which(): Promise<Wall> {
    asked ??= read([{ sql: WHICH, params: [] }]).then(
      ([answer]) => (answer?.rows[0]?.["wall"] ?? "none") as Wall,
      (error) => {
        asked = undefined;
        throw error;
      },
    );
    return asked;
  }

  return {
    which,
    enter: async (scope) => {
      const wall = await which();
      return wall === "none" ? [] : [{ name: `cognition_wall_${wall}`, text: ENTER[wall], values: [scope] }];
    },
  };
}
