import { AppError, DEFAULT_MAX_STORE_VALUE_BYTES, type Scope } from "@cognition/contract";
import {
  BaseStore,
  type GetOperation,
  type ListNamespacesOperation,
  type Operation,
  type OperationResults,
  type PutOperation,
  type SearchOperation,
} from "@langchain/langgraph-checkpoint";
import type { SqlContext } from "../sql/context.ts";
import { requireKnown } from "../sql/known-names.ts";
import { pageBounds } from "../sql/page-bounds.ts";
import { scopeText } from "../sql/scope.ts";
import type { Statement } from "../sql/statement.ts";
import { runBatch, type Step } from "./store-batch.ts";
import type { FoundItem, ItemRow, StoredItem } from "./store-item.ts";
import { toItem } from "./store-item.ts";
import { planListing } from "./store-namespaces.ts";
import { recordedPut } from "./store-record.ts";
import { planSearch } from "./store-search.ts";
import {
  deleteExpired,
  deleteItem,
  type ItemAddress,
  itemAddress,
  selectItem,
  ttlMs,
  upsertItem,
} from "./store-statements.ts";
import { encodeValue } from "./store-value.ts";
import { reachDirectly } from "./store-wrapper.ts";

/** LangGraph's own. */
const DEFAULT_ITEMS = 10;
const DEFAULT_NAMESPACES = 100;

export interface StoreOptions {
  ttl?: {
    /** Minutes, for items that are put without one of their own. None: they stay. */
    defaultTtl?: number;
    /** Whether reading an item starts its time anew; a read may say otherwise. True by default. */
    refreshOnRead?: boolean;
  };
  maxValueBytes?: number;
  /** The thread whose tools write: what they change can be set back with it. */
  thread_id?: string;
}

export interface PutOptions {
  /** Minutes until the item is gone, counted by the database's clock; null for never. */
  ttl?: number | null;
}

export interface ReadOptions {
  /** Whether the items found start their time anew. */
  refreshTtl?: boolean | undefined;
}

export interface SearchOptions extends ReadOptions, Partial<Omit<SearchOperation, "namespacePrefix">> {}

type Put = PutOperation & { options?: PutOptions | undefined };
type Get = GetOperation & ReadOptions;
type Search = SearchOperation & ReadOptions;

/**
 * The memory that spans threads, confined to one scope. What LangGraph promises of a store, and: a batch is one
 * transaction in which each operation sees those before it; a namespace is matched label by label; values come back
 * equal or are refused; an item past its time is gone at once for every node.
 */
export class Store extends BaseStore {
  readonly #ctx: SqlContext;
  readonly #scope: string;
  readonly #options: StoreOptions;

  constructor(ctx: SqlContext, scope?: Scope, options: StoreOptions = {}) {
    super();
    this.#ctx = ctx;
    this.#scope = scopeText(scope);
    this.#options = options;
    ttlMs(options.ttl?.defaultTtl);
    reachDirectly(this);
  }

  /** All or nothing. Every operation is checked before the first one runs. */
  override async batch<Op extends Operation[]>(operations: Op): Promise<OperationResults<Op>> {
    const steps = operations.map((operation) => this.#plan(operation));
    return (await runBatch(this.#ctx.db, this.#scope, steps)) as OperationResults<Op>;
  }

  override async get(namespace: string[], key: string, options: ReadOptions = {}): Promise<StoredItem | null> {
    const [item] = await this.batch([{ namespace, key, ...options } satisfies Get]);
    return item as StoredItem | null;
  }

  /** In the order of namespace and key; with a `query` the best matches first, see `parseQuery`. */
  override async search(namespacePrefix: string[], options: SearchOptions = {}): Promise<FoundItem[]> {
    requireKnown("Items", options, ["filter", "query", "limit", "offset", "refreshTtl"]);
    const [items] = await this.batch([{ ...options, namespacePrefix } satisfies Search]);
    return items as FoundItem[];
  }

  /** `index` is taken for compatibility: there is no vector index, and `query` looks at every string. */
  override async put(
    namespace: string[],
    key: string,
    value: Record<string, unknown>,
    index?: false | string[],
    options?: PutOptions,
  ): Promise<void> {
    await this.batch([{ namespace, key, value, ...(index === undefined ? {} : { index }), options } satisfies Put]);
  }

  /** The same memory, as the tools of a thread write to it: what they change can be set back with the thread. */
  recordedFor(thread_id: string): Store {
    return new Store(this.#ctx, JSON.parse(this.#scope), { ...this.#options, thread_id });
  }

  /** Removes the rows of items that are past their time; nobody could see them any more. Gives their number. */
  async sweepExpired(): Promise<number> {
    const { db } = this.#ctx;
    const [swept] = await db.atomic([deleteExpired(db.dialect, this.#scope)]);
    return swept?.changes ?? 0;
  }

  #plan(operation: Operation): Step {
    if ("namespacePrefix" in operation) return this.#planSearch(operation);
    if ("value" in operation) return this.#planPut(operation);
    if ("key" in operation) return this.#planGet(operation);
    return this.#planListing(operation);
  }

  #planGet({ namespace, key, refreshTtl }: Get): Step {
    const select = selectItem(this.#ctx.db.dialect, itemAddress(this.#scope, namespace, key));
    const refresh = this.#refreshes(refreshTtl);
    return {
      statement: select,
      result: ([row]: ItemRow[]) => ({ value: row ? toItem(row) : null, refresh: row && refresh ? [row] : [] }),
    };
  }

  #planPut({ namespace, key, value, options }: Put): Step {
    const { thread_id } = this.#options;
    const address = itemAddress(this.#scope, namespace, key);
    const put = this.#putStatement(address, { value, options });
    if (thread_id !== undefined) return recordedPut(this.#ctx, { thread_id, address, put });
    return { statement: put, writes: address, result: () => ({ value: undefined }) };
  }

  #putStatement(address: ItemAddress, { value, options }: Pick<Put, "value" | "options">): Statement {
    const { db, now } = this.#ctx;
    if (value === null) return deleteItem(db.dialect, address);
    const text = encodeValue(value, this.#options.maxValueBytes ?? DEFAULT_MAX_STORE_VALUE_BYTES);
    const minutes = options?.ttl === undefined ? this.#options.ttl?.defaultTtl : options.ttl;
    return upsertItem(db.dialect, { ...address, value: text, ttlMs: ttlMs(minutes), now: now() });
  }

  #planSearch({ namespacePrefix: prefix, filter, query, limit, offset, refreshTtl }: Search): Step {
    const page = pageBounds({ limit, offset }, DEFAULT_ITEMS);
    const search = planSearch(this.#ctx.db, { scope: this.#scope, prefix, filter, query, ...page });
    const refresh = this.#refreshes(refreshTtl);
    return {
      *body() {
        const found = yield* search();
        return { value: found.map(({ item }) => item), refresh: refresh ? found.map(({ row }) => row) : [] };
      },
    };
  }

  #planListing({ matchConditions: conditions = [], maxDepth, limit, offset }: ListNamespacesOperation): Step {
    const page = pageBounds({ limit, offset }, DEFAULT_NAMESPACES);
    if (maxDepth !== undefined && !(Number.isSafeInteger(maxDepth) && maxDepth >= 1)) {
      throw new AppError("validation_failed", `maxDepth must be a whole number from 1, not ${String(maxDepth)}`);
    }
    const list = planListing(this.#ctx.db, { scope: this.#scope, conditions, maxDepth, ...page });
    return {
      *body() {
        return { value: yield* list() };
      },
    };
  }

  #refreshes(refreshTtl: boolean | undefined): boolean {
    return refreshTtl ?? this.#options.ttl?.refreshOnRead ?? true;
  }
}
