import { z } from "zod";
import { idempotent } from "./id.ts";
import { isJsonObject, JsonObject, JsonObjectInput } from "./json.ts";
import {
  DEFAULT_MAX_STORE_VALUE_BYTES,
  MAX_NAMESPACE_LABEL_LENGTH,
  MAX_NAMESPACE_LABELS,
  MAX_STORE_KEY_LENGTH,
  MAX_TITLE_LENGTH,
  MAX_TTL_SECONDS,
} from "./limits.ts";
import { Limit, Offset } from "./page.ts";
import { exceedsBytes, text } from "./text.ts";
import { Timestamp } from "./time.ts";

const labels = z
  .array(text("namespace label", MAX_NAMESPACE_LABEL_LENGTH, 1))
  .max(MAX_NAMESPACE_LABELS, { error: `namespace has more than the limit of ${MAX_NAMESPACE_LABELS} labels` });

/** A list of labels, never one joined string: a label may hold dots, colons, anything. */
export const Namespace = labels.min(1, { error: "namespace must not be empty" });
export type Namespace = z.infer<typeof Namespace>;

const Key = text("key", MAX_STORE_KEY_LENGTH, 1);

export const StoreItem = z.strictObject({
  namespace: z.array(z.string()),
  key: z.string(),
  value: JsonObject,
  created_at: Timestamp,
  updated_at: Timestamp,
  expires_at: Timestamp.nullable(),
});
export type StoreItem = z.infer<typeof StoreItem>;

/** In a query the labels are repeated: `namespace=users&namespace=alice`. */
export const StoreItemRef = z.strictObject({
  namespace: z.preprocess((value: string | string[]) => (typeof value === "string" ? [value] : value), Namespace),
  key: Key,
});
export type StoreItemRef = z.infer<typeof StoreItemRef>;

export const PutStoreItem = z.strictObject({
  namespace: Namespace,
  key: Key,
  value: JsonObjectInput.refine((value) => !exceedsBytes(JSON.stringify(value), DEFAULT_MAX_STORE_VALUE_BYTES), {
    error: `value is larger than the limit of ${DEFAULT_MAX_STORE_VALUE_BYTES} bytes`,
    params: { code: "content_too_large", limit: "store_value", max: DEFAULT_MAX_STORE_VALUE_BYTES },
  }),
  ttl_seconds: z.int().min(1).max(MAX_TTL_SECONDS).optional(),
});
export type PutStoreItem = z.infer<typeof PutStoreItem>;

export const STORE_OPERATORS = ["$eq", "$ne", "$gt", "$gte", "$lt", "$lte"] as const;
const operators: ReadonlySet<string> = new Set(STORE_OPERATORS);

function hasKnownOperators(filter: Record<string, unknown>): boolean {
  return Object.values(filter).every(
    (condition) =>
      !isJsonObject(condition) || Object.keys(condition).every((key) => !key.startsWith("$") || operators.has(key)),
  );
}

/** Field to value (equal), or field to operators. */
export const StoreFilter = JsonObjectInput.refine(hasKnownOperators, {
  error: `filter operators are ${STORE_OPERATORS.join(", ")}`,
});

export const SearchStore = z.strictObject({
  namespace_prefix: labels.default([]),
  filter: StoreFilter.optional(),
  /** Words that are looked for in the texts of a value; what has most of them comes first, what has none not at all. */
  query: text("query", MAX_TITLE_LENGTH, 1).optional(),
  limit: Limit.prefault(10),
  offset: Offset.prefault(0),
  ...idempotent,
});
export type SearchStore = z.infer<typeof SearchStore>;
export type SearchStoreInput = z.input<typeof SearchStore>;

/** No total: what matches a filter is found by looking, page by page. */
export const StoreItemPage = z.strictObject({ items: z.array(StoreItem), has_more: z.boolean() });
export type StoreItemPage = z.infer<typeof StoreItemPage>;

export const ListNamespaces = z.strictObject({
  prefix: labels.optional(),
  suffix: labels.optional(),
  max_depth: z.int().min(1).max(MAX_NAMESPACE_LABELS).optional(),
  limit: Limit.prefault(100),
  offset: Offset.prefault(0),
  ...idempotent,
});
export type ListNamespaces = z.infer<typeof ListNamespaces>;
export type ListNamespacesInput = z.input<typeof ListNamespaces>;

export const NamespacePage = z.strictObject({ namespaces: z.array(z.array(z.string())), has_more: z.boolean() });
export type NamespacePage = z.infer<typeof NamespacePage>;
