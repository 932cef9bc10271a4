import { z } from "zod";
import { DEFAULT_PAGE_LIMIT, MAX_CURSOR_LENGTH, MAX_PAGE_LIMIT, MAX_PAGE_OFFSET } from "./limits.ts";
import { text } from "./text.ts";

/** A whole number that may come as a query string. `Number("")` and `Number("0x1f")` are numbers; neither is meant here. */
export function queryInt(name: string, min: number, max: number) {
  const error = `${name} must be a whole number from ${min} to ${max}`;
  return z.preprocess(
    (value: number | string | undefined) =>
      typeof value === "string" && /^-?\d{1,16}$/.test(value) ? Number(value) : value,
    z.int({ error }).min(min, { error }).max(max, { error }),
  );
}

export const Limit = queryInt("limit", 1, MAX_PAGE_LIMIT);
export const Offset = queryInt("offset", 0, MAX_PAGE_OFFSET);
export const Cursor = text("cursor", MAX_CURSOR_LENGTH, 1);

/** For lists that stand still while they are read: what is registered, and logs from their beginning. */
export const offsets = { limit: Limit.prefault(DEFAULT_PAGE_LIMIT), offset: Offset.prefault(0) };

/** For lists whose rows come or go meanwhile. A cursor holds its place; an offset drifts. */
export const paging = { ...offsets, cursor: Cursor.optional() };

export const PageQuery = z.strictObject(offsets);
export type PageQuery = z.infer<typeof PageQuery>;

export const offsetInfo = { total: z.int().nonnegative(), has_more: z.boolean() };
export const pageInfo = { ...offsetInfo, next_cursor: z.string().optional() };
