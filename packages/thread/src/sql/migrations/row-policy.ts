/**
 * The wall around a table of user data, for the migration that makes the table. Released migrations are built from
 * these, so none of them ever changes: another kind of policy is another function.
 */

/** What requests read as, where the connecting user itself is above the policies. */
export const REQUEST_ROLE = "cognition_request";

/** As subqueries both are asked for once in a statement, not once for every row. */
const UNSCOPED = "(select cognition_unscoped())";
const SCOPE = "(select current_setting('cognition.scope', true))";

/** Rows with a scope of their own. */
export function scopedRows(table: string): string[] {
  return [...wall(table, `${UNSCOPED} or scope = ${SCOPE}`), readable(table)];
}

/**
 * Rows that belong to one which has the scope. `owner` selects that one, and sees it only if its own policy lets it:
 * so the scope is not repeated in every row of the largest tables.
 */
export function sharedRows(table: string, owner: string): string[] {
  return [...wall(table, `${UNSCOPED} or exists (${owner})`), readable(table)];
}

/** Rows that no request reads by itself. */
export function serverRows(table: string): string[] {
  return wall(table, UNSCOPED);
}

/** Forced, since the owner of a table is otherwise above its policies, and the server usually is the owner. */
function wall(table: string, condition: string): string[] {
  return [
    `alter table ${table} enable row level security`,
    `alter table ${table} force row level security`,
    `create policy scope on ${table} using (${condition})`,
  ];
}

function readable(table: string): string {
  return `do $$
begin
  grant select on ${table} to ${REQUEST_ROLE};
exception when undefined_object then null;
end $$`;
}
