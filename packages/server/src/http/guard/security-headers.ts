import type { Guard } from "../guard.ts";

const ALWAYS = {
  "X-Content-Type-Options": "nosniff",
  "X-Frame-Options": "DENY",
  "Referrer-Policy": "no-referrer",
  "Cross-Origin-Resource-Policy": "same-origin",
};

const UNLESS_SET = {
  // Files and artifacts are written by agents: opened in a browser, one must not run as a page of this server.
  "Content-Security-Policy": "default-src 'none'; frame-ancestors 'none'; sandbox",
  // What one credential got must not come out of a cache for another.
  "Cache-Control": "no-store",
};

/** A page of ours that needs more (the docs) brings its own policy. */
export function createSecurityHeaders(): Guard {
  return {
    after: (_, { headers }) => {
      for (const [name, value] of Object.entries(ALWAYS)) headers.set(name, value);
      for (const [name, value] of Object.entries(UNLESS_SET)) if (!headers.has(name)) headers.set(name, value);
    },
  };
}
