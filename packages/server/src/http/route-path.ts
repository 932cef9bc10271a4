import { ROUTES } from "@cognition/contract";

/** The one parameter that holds slashes: the path of a file. */
const SPANNING = "path";

/** `/sessions/{id}` as hono writes it. */
export function honoPath(path: string): string {
  return path.replaceAll(/\{(\w+)\}/g, (_, name: string) => (name === SPANNING ? `:${name}{[\\s\\S]+}` : `:${name}`));
}

const patterns = Object.values(ROUTES).map(({ method, path }) => ({ method, pattern: toPattern(path) }));

function toPattern(path: string): RegExp {
  const source = path
    .replaceAll(".", "\\.")
    .replaceAll(/\{(\w+)\}/g, (_, name) => (name === SPANNING ? ".+" : "[^/]+"));
  return new RegExp(`^${source}$`, "s");
}

/** What `Allow` says of a path; empty where there is nothing. */
export function methodsAt(pathname: string): string[] {
  const methods = new Set<string>();
  for (const { method, pattern } of patterns) if (pattern.test(pathname)) methods.add(method);
  if (methods.size === 0) return [];
  if (methods.has("GET")) methods.add("HEAD");
  return [...methods.add("OPTIONS")].sort();
}
