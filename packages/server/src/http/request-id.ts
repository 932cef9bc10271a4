import { randomUUID } from "node:crypto";

const HARMLESS = /^[\w.:/+=-]{1,128}$/;

/** The caller's own, so that its log and ours can be joined, where it is fit to be written into one. */
export function requestId(headers: Headers): string {
  const given = headers.get("X-Request-Id");
  return given !== null && HARMLESS.test(given) ? given : randomUUID();
}
