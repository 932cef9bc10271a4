import type { RouteName } from "@cognition/contract";

/** Fields that hold a value and name nothing that a scope owns, whatever the route. */
const ANYWHERE: ReadonlySet<string> = new Set(
  `title metadata model temperature max_tokens recursion_limit system_prompt mode status limit offset type args message
   value decision tool_name archive content callback_url on_busy input context order role after group_by files last restore
   force dry_run artifact_type visibility encoding content_type reason n description tools skills memory middleware
   interrupt_on response_format provider display_name enabled priority base_url api_key_env max_retries timeout_ms
   ttl_seconds filter max_depth preferences goals expertise_areas communication_style projects objective assessment
   approach observations insights facts thoughts period max_cost max_steps max_tool_calls max_seconds`.split(/\s+/),
);

/** Where a name stands for a thing on other routes, and for a value on these. */
const HERE: ReadonlySet<string> = new Set([
  "createArtifact body.name",
  "createArtifact body.path",
  "updateArtifact body.name",
  "updateArtifact body.path",
  "listArtifacts query.name",
  "diffArtifact query.from",
  "diffArtifact query.to",
  "getUsage query.from",
  "getUsage query.to",
  "startTask body.query",
  "putFile body",
]);

/** Everything else names something, until it is written down here that it does not. */
export function isPlain(name: RouteName, field: string): boolean {
  if (HERE.has(`${name} ${field}`)) return true;
  const last = field.split(".").at(-1)?.replaceAll("[]", "") ?? "";
  return field.includes(".") && ANYWHERE.has(last);
}
