import { AppError } from "@cognition/contract";

/** Web origins whose pages may use this server. */
export interface OriginList {
  has(origin: string): boolean;
  /** Whether every origin is allowed, so that answers need not depend on it. */
  readonly any: boolean;
}

/** `*` for all. An origin has a scheme and a host, and no path. */
export function createOriginList(origins: readonly string[]): OriginList {
  const any = origins.includes("*");
  const known = new Set(origins.filter((origin) => origin !== "*").map(normalise));
  return { any, has: (origin) => any || known.has(origin) };
}

function normalise(origin: string): string {
  const parsed = URL.canParse(origin) ? new URL(origin) : undefined;
  // Schemes of browser extensions and desktop shells have no origin of their own in Node's URL.
  const same = parsed?.origin === "null" ? origin : parsed?.origin;
  if (same !== undefined && !same.includes("*") && [same, `${same}/`].includes(origin.toLowerCase())) return same;
  throw new AppError(
    "invalid_config",
    `"${origin}" is not a web origin. Write it as a browser sends it, https://app.example.com, without a path; or * for all.`,
  );
}
