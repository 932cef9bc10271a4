import { AppError, type Scope, type StoreItem } from "@cognition/contract";
import type { Storage, Store } from "@cognition/thread";
import { gatherRows } from "../gather-rows.ts";
import type { Handlers } from "../handler.ts";

type Names = "getStoreItem" | "putStoreItem" | "deleteStoreItem" | "searchStore" | "listNamespaces";

export interface StoreRoutes {
  readonly storage: Pick<Storage, "getStore">;
}

type Found = NonNullable<Awaited<ReturnType<Store["get"]>>>;

/** The memory of the caller's scope; without a scope that of nobody in particular, never everybody's. */
export function storeRoutes({ storage }: StoreRoutes): Pick<Handlers, Names> {
  const storeOf = (scope: Scope | undefined): Promise<Store> => storage.getStore(scope ?? {});

  async function get(store: Store, namespace: string[], key: string): Promise<StoreItem> {
    const item = await store.get(namespace, key, { refreshTtl: false });
    if (item) return toStoreItem(item);
    throw new AppError("store_item_not_found", `There is no item ${key} under ${namespace.join(" / ")}`);
  }

  return {
    getStoreItem: async ({ query: { namespace, key }, scope }) => get(await storeOf(scope), namespace, key),
    putStoreItem: async ({ body: { namespace, key, value, ttl_seconds }, scope }) => {
      const store = await storeOf(scope);
      const options = ttl_seconds === undefined ? undefined : { ttl: ttl_seconds / 60 };
      await store.put(namespace, key, value, undefined, options);
      return get(store, namespace, key);
    },
    deleteStoreItem: async ({ query: { namespace, key }, scope }) => {
      const store = await storeOf(scope);
      await get(store, namespace, key);
      await store.delete(namespace, key);
      return undefined;
    },
    searchStore: async ({ body: { namespace_prefix, filter, query, limit, offset }, scope }) => {
      const store = await storeOf(scope);
      // One more than asked for tells whether there are more.
      const wanted = { refreshTtl: false, ...(filter && { filter }), ...(query && { query }) };
      const found = await gatherRows<Found>(limit + 1, (count, before) =>
        store.search(namespace_prefix, { ...wanted, limit: count, offset: offset + before.length }),
      );
      return { items: found.slice(0, limit).map(toStoreItem), has_more: found.length > limit };
    },
    listNamespaces: async ({ body: { prefix, suffix, max_depth, limit, offset }, scope }) => {
      const store = await storeOf(scope);
      const found = await store.listNamespaces({
        ...{ limit: limit + 1, offset },
        ...(prefix && { prefix }),
        ...(suffix && { suffix }),
        ...(max_depth !== undefined && { maxDepth: max_depth }),
      });
      return { namespaces: found.slice(0, limit), has_more: found.length > limit };
    },
  };
}

function toStoreItem({ namespace, key, value, createdAt, updatedAt, expiresAt }: Found): StoreItem {
  return {
    namespace,
    key,
    value: value as StoreItem["value"],
    created_at: createdAt.toISOString(),
    updated_at: updatedAt.toISOString(),
    expires_at: expiresAt?.toISOString() ?? null,
  };
}
