import { ROUTES, type Route, type RouteName } from "@cognition/contract";

export type Ask = (path: string, init?: RequestInit) => Promise<Response>;

/** A request as its route's schemas see it. */
export interface Parts {
  readonly path?: Readonly<Record<string, string | number>>;
  readonly query?: Readonly<Record<string, unknown>>;
  readonly body?: unknown;
}

export function urlOf(name: RouteName, { path = {}, query = {} }: Parts): string {
  const { path: pattern } = ROUTES[name] as Route;
  const filled = pattern.replaceAll(/\{(\w+)\}/g, (_, field: string) => encode(path[field]));
  const search = new URLSearchParams();
  for (const [field, value] of Object.entries(query)) {
    for (const each of Array.isArray(value) ? value : [value]) search.append(field, textOf(each));
  }
  return search.size > 0 ? `${filled}?${search}` : filled;
}

function encode(value: unknown): string {
  return encodeURIComponent(textOf(value));
}

/** As it can stand in an address. */
function textOf(value: unknown): string {
  return (typeof value === "string" ? value : (JSON.stringify(value) ?? "")).toWellFormed();
}

/** JSON where streams could be had too: a stream of the log would never end. */
export function send(ask: Ask, name: RouteName, parts: Parts, headers: Record<string, string>): Promise<Response> {
  const { method, body: kind } = ROUTES[name] as Route;
  const body = kind === undefined ? {} : { body: kind === "bytes" ? String(parts.body) : JSON.stringify(parts.body) };
  return ask(urlOf(name, parts), { method, headers: { Accept: "application/json", ...headers }, ...body });
}

/** The values at a place such as `body.decisions[].id`. */
export function valuesAt(parts: Parts, place: string): unknown[] {
  let found: unknown[] = [parts];
  for (const step of place.split(".")) {
    const field = step.replace("[]", "");
    found = found.map((value) => (value as Record<string, unknown> | undefined)?.[field]);
    if (step.endsWith("[]")) found = found.flatMap((value) => (Array.isArray(value) ? value : []));
    found = found.filter((value) => value !== undefined && value !== null);
  }
  return found;
}

/** The same request with another value at that place, which is made if it is not there. */
export function replaceAt<T>(parts: T, place: string, value: unknown): T {
  const [step = "", ...rest] = place.split(".");
  const field = step.replace("[]", "");
  const inner = (parts as Record<string, unknown>)[field];
  const change = (old: unknown) => (rest.length === 0 ? value : replaceAt(asObject(old), rest.join("."), value));
  const changed = step.endsWith("[]") ? (Array.isArray(inner) ? inner : [undefined]).map(change) : change(inner);
  return { ...parts, [field]: changed };
}

function asObject(value: unknown): object {
  return typeof value === "object" && value !== null ? value : {};
}

/** The same request without that field. */
export function removeAt(parts: Parts, place: string): Parts {
  return replaceAt(parts, place, undefined);
}
