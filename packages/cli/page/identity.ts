import { type Client, createClient, isAppError } from "@cognition/client";
import { byId, element } from "./element.ts";
import { errorText } from "./words.ts";

interface Identity {
  readonly credential?: string;
  /** Scope headers by name. */
  readonly headers: Readonly<Record<string, string>>;
}

/** Of this tab alone, and gone with it. */
const KEPT = "cognition-identity";
const CREDENTIAL = "API key or token";

function read(): Identity {
  return JSON.parse(sessionStorage.getItem(KEPT) ?? '{"headers":{}}') as Identity;
}

export function openClient(): Client {
  const { credential, headers } = read();
  byId("button", "forget").hidden = sessionStorage.getItem(KEPT) === null;
  return createClient({
    // The folder of this page: a proxy may have it somewhere below.
    baseUrl: new URL(".", location.href).href,
    headers,
    ...(credential !== undefined && { token: credential }),
    // A page that is left open outlasts any restart, and what is sent meanwhile is sent when the server is there again.
    retries: Number.POSITIVE_INFINITY,
    maxReconnects: Number.POSITIVE_INFINITY,
  });
}

export function forgetIdentity(): void {
  sessionStorage.removeItem(KEPT);
}

/** Whether the server wants to know who asks, or for whom; then it is asked for, and `onGiven` called. */
export function askIdentity(error: unknown, onGiven: () => void): boolean {
  const names = missing(error);
  if (names.length === 0) return false;
  const form = byId("form", "identity");
  const fields = names.map((name) => {
    const type = name === CREDENTIAL ? "password" : "text";
    return element("input", { name, type, required: true, autocomplete: "off" });
  });
  const labels = fields.map((field) => element("label", {}, field.name, field));
  form.replaceChildren(element("p", {}, errorText(error)), ...labels, element("button", {}, "Continue"));
  form.hidden = false;
  fields[0]?.focus();
  form.onsubmit = (submitted) => {
    submitted.preventDefault();
    const given = Object.fromEntries(fields.map(({ name, value }) => [name, value.trim()]));
    const { [CREDENTIAL]: credential = read().credential, ...headers } = given;
    const identity = { ...(credential !== undefined && { credential }), headers: { ...read().headers, ...headers } };
    sessionStorage.setItem(KEPT, JSON.stringify(identity));
    form.hidden = true;
    onGiven();
  };
  return true;
}

function missing(error: unknown): readonly string[] {
  if (!isAppError(error)) return [];
  if (error.code === "unauthorized") return [CREDENTIAL];
  const { headers } = (error.details ?? {}) as { headers?: readonly string[] };
  return error.code === "scope_required" || error.code === "scope_mismatch" ? (headers ?? []) : [];
}
