import { AppError } from "@cognition/contract";

const NOT_A_STREAM = /^\s*(text\/html|application\/json)\b/i;

export interface GuardedFetchOptions {
  readonly fetch: typeof fetch;
  readonly provider_id: string;
  readonly connectMs: number;
}

/**
 * The fetch that a provider's SDK gets. Redirects are refused, since the header that carries the key would follow them to a
 * host it is not bound to; a provider that does not begin to answer is given up; an answer that cannot be a stream is
 * told as what it is rather than read as an empty one.
 */
export function createGuardedFetch({ fetch: send, provider_id, connectMs }: GuardedFetchOptions): typeof fetch {
  return async (input, init) => {
    const late = new AbortController();
    const timer = setTimeout(() => late.abort(timedOut(provider_id, connectMs)), connectMs);
    const signals = [late.signal, ...(init?.signal ? [init.signal] : [])];
    try {
      const fit = { ...init, ...(typeof init?.body === "string" && { body: wholeCharacters(init.body) }) };
      const response = await send(input, { ...fit, redirect: "manual", signal: AbortSignal.any(signals) });
      refuseRedirect(response, provider_id);
      refuseOther(response, provider_id, init?.body);
      return response;
    } finally {
      clearTimeout(timer);
    }
  };
}

/** Half of a surrogate pair is the only thing that `JSON.stringify` writes so. An even number of backslashes is a text that spells it. */
const HALF = /(?<!\\)((?:\\\\)*)\\ud[89a-f][0-9a-f]{2}/g;

/** Cutting a text can leave half of a character. Providers refuse a request with one, and every later one of the thread with it. */
function wholeCharacters(json: string): string {
  return json.includes("\\ud") ? json.replace(HALF, "$1\\ufffd") : json;
}

function timedOut(provider_id: string, ms: number): AppError {
  return new AppError("model_timeout", `The provider ${provider_id} did not begin to answer within ${ms} ms.`, {
    details: { provider_id, timeout: "connect", timeout_ms: ms },
  });
}

function refuseRedirect({ status }: Response, provider_id: string): void {
  if (status < 300 || status >= 400) return;
  throw new AppError(
    "model_failed",
    `The provider ${provider_id} answered with a redirect (${status}), which is not followed because it would carry the ` +
      "key along. Set its base_url to the final address.",
    { details: { provider_id, status, retryable: false } },
  );
}

function refuseOther(response: Response, provider_id: string, body: unknown): void {
  const asked = typeof body === "string" && /"stream"\s*:\s*true/.test(body);
  const type = response.headers.get("content-type") ?? "";
  if (!asked || !response.ok || !NOT_A_STREAM.test(type)) return;
  throw new AppError(
    "model_failed",
    `The provider ${provider_id} answered with ${type} instead of an event stream. Is its base_url right?`,
    { details: { provider_id, content_type: type, retryable: false } },
  );
}
