import type { Config } from "../config/config-schema.ts";
import type { AccessSettings } from "./access.ts";

/** What stands between the network and the routes, of the configuration. */
export function accessSettings({ server, auth, scoping, cors, rate_limit }: Config): AccessSettings {
  const { clock_tolerance, ...jwt } = auth.jwt;
  const given = Object.fromEntries(Object.entries(jwt).filter(([, value]) => value !== undefined));
  const { shared, open, ...rate } = rate_limit;
  return {
    auth: auth.mode,
    jwt: { ...given, clock_tolerance_s: clock_tolerance, scope_required: scoping.enabled },
    host: server.host,
    hosts: server.hosts,
    origins: cors.origins,
    trusted_proxies: server.trusted_proxies,
    ...(auth.mode !== "none" && auth.failures_per_minute > 0 ? { failures_per_minute: auth.failures_per_minute } : {}),
    ...(open > 0 ? { open } : {}),
    ...(rate.per_second > 0 ? { rate: { ...rate, shared } } : {}),
  };
}
