import { AppError } from "@cognition/contract/app-error";
import { keyText } from "./idempotency-key.ts";
import type { CallOptions, Operations, RouteMethods } from "./operation-types.ts";
import { fillPath } from "./path.ts";
import { type Form, ROUTE_TABLE, type RouteEntry } from "./route-table.ts";
import type { Bytes, Transport } from "./transport.ts";

/** POSTs that only read. A key would have the server keep each result, up to 500 items of a megabyte, for a day. */
const READS: ReadonlySet<string> = new Set(["searchStore", "listNamespaces"]);

export function createOperations(transport: Transport): Operations {
  const methods = Object.fromEntries(
    Object.entries(ROUTE_TABLE).map(([name, entry]) => [
      name,
      (...args: unknown[]) => call(transport, entry, args, READS.has(name)),
    ]),
  ) as unknown as RouteMethods;
  return {
    ...methods,
    getMessages: methods.listMessages,
    async downloadFiles(session_id, options) {
      const path = fillPath(ROUTE_TABLE.listFiles[1], [session_id]);
      return transport.receiveSafely({ method: "GET", path, query: { archive: "tar" }, ...options }, readBytes);
    },
  };
}

async function call(
  transport: Transport,
  entry: RouteEntry,
  args: readonly unknown[],
  reads: boolean,
): Promise<unknown> {
  const [method, template, form = "json", takesInput = true] = entry;
  const places = template.split("{").length - 1;
  const rest = args.slice(places);
  const [input, options] = takesInput ? rest : [undefined, rest[0]];
  const { idempotencyKey, query, headers, signal } = (options ?? {}) as CallOptions<Record<string, unknown>>;
  const keyed = method === "POST" && (!reads || idempotencyKey !== undefined);
  const hasBody = method !== "GET" && method !== "DELETE";
  const request = {
    method,
    path: fillPath(template, args.slice(0, places)),
    query: hasBody ? query : (input as Record<string, unknown> | undefined),
    body: hasBody ? bodyOf(input, form) : undefined,
    headers: {
      ...headersOf(method, form),
      ...(keyed && { "Idempotency-Key": keyText(idempotencyKey) }),
      ...headers,
    },
    signal,
  };
  // Only what can be repeated without doing anything twice: a read, or another POST under its key.
  const safe = method === "GET" || method === "POST";
  const receive = safe ? transport.receiveSafely : transport.receive;
  return receive(request, (response) => readAnswer(response, form));
}

function bodyOf(input: unknown, form: Form): Bytes {
  if (form !== "bytes") return JSON.stringify(input ?? {});
  if (isBytes(input)) return input;
  throw new AppError("validation_failed", "content must be a text, a Uint8Array, an ArrayBuffer or a Blob");
}

function isBytes(input: unknown): input is Bytes {
  if (typeof input === "string" || ArrayBuffer.isView(input)) return true;
  return input instanceof ArrayBuffer || input instanceof Blob;
}

function headersOf(method: string, form: Form): Record<string, string> {
  return {
    ...(form === "json" && { Accept: "application/json" }),
    ...(form === "json" && method !== "GET" && method !== "DELETE" && { "Content-Type": "application/json" }),
  };
}

async function readAnswer(response: Response, form: Form): Promise<unknown> {
  if (response.status === 204) return undefined;
  if (form === "text") return response.text();
  return form === "bytes" ? readBytes(response) : response.json();
}

async function readBytes(response: Response): Promise<Uint8Array> {
  return new Uint8Array(await response.arrayBuffer());
}
