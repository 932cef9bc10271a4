import type { Scope } from "@cognition/contract";
import type { Guard } from "../guard.ts";
import { PUBLIC_ROUTES } from "../guard.ts";

/** As much of a logger as a request's line needs. */
export interface RequestLogger {
  debug(fields: object, message: string): void;
  info(fields: object, message: string): void;
  error(fields: object, message: string): void;
}

interface Seen {
  at: number;
  scope?: Scope | undefined;
}

/**
 * One line for each request, when its answer begins. The path without the query, and no header: neither may hold a secret
 * that is none of the log's business. Probes and the files of a page are logged at debug, or they would be most of the log.
 */
export function createRequestLog({ log, now }: { log: RequestLogger; now: () => number }): Guard {
  // By the URL, which is one object from the arrival of a request to its answer.
  const seen = new WeakMap<URL, Seen>();
  return {
    before: ({ url }) => {
      seen.set(url, { at: now() });
      return undefined;
    },
    admit: ({ url, scope }) => {
      const known = seen.get(url);
      if (known) known.scope = scope;
      return undefined;
    },
    after: ({ request_id, method, url, route, remote_address }, { status }) => {
      const { at, scope } = seen.get(url) ?? { at: now() };
      const duration_ms = Math.round((now() - at) * 100) / 100;
      const line = { request_id, method, path: url.pathname, route, status, duration_ms, scope, remote_address };
      // What is no route and yet was answered is a file of the page.
      const isPublic = route === undefined ? status < 400 : PUBLIC_ROUTES.has(route);
      log[levelOf(status, isPublic)](line, "request");
    },
  };
}

function levelOf(status: number, isPublic: boolean): "debug" | "info" | "error" {
  if (status >= 500) return "error";
  return isPublic ? "debug" : "info";
}
