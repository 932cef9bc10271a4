import { AppError, Uuid } from "@cognition/contract";

/** What a page says about the rest of its list. */
export function pageInfo(query: { offset: number }, count: number, total: number) {
  return { total, has_more: query.offset + count < total };
}

/** The cursor's row, where a page begins after it. An offset beside it would be counted from nowhere in particular. */
export function cursorOf({ cursor, offset }: Omit<Asked, "limit">): string | undefined {
  if (cursor !== undefined && offset > 0) throw wrongCursor("takes no offset beside it");
  return cursor;
}

/** The same, for lists whose cursors are ids that this server made. */
export function uuidCursorOf(asked: Omit<Asked, "limit">): string | undefined {
  const cursor = cursorOf(asked);
  if (cursor !== undefined && !Uuid.safeParse(cursor).success) throw wrongCursor(NOT_OURS);
  return cursor;
}

export const NOT_OURS = "is none that this list gave";

export function wrongCursor(msg: string): AppError {
  return new AppError("validation_failed", `cursor ${msg}`, {
    details: { errors: [{ loc: ["query", "cursor"], msg }] },
  });
}

/** Of a list that was asked for one row more than the page has: that one only tells whether there is more. */
export function cursorPage<T extends { id: string }>(
  { limit }: Pick<Asked, "limit">,
  found: readonly T[],
  total: number,
) {
  const page = found.slice(0, limit);
  const last = page.at(-1);
  const has_more = found.length > limit;
  return { page, info: { total, has_more, ...(has_more && last && { next_cursor: last.id }) } };
}

interface Asked {
  readonly limit: number;
  readonly offset: number;
  readonly cursor?: string | undefined;
}

/** A page of a list that is there as a whole; `isPast` tells what comes after the cursor, `cursorAt` where a row stands. */
export function cursorSlice<T>(
  asked: Asked,
  all: readonly T[],
  isPast: (row: T) => boolean,
  cursorAt: (row: T) => string,
) {
  const rest = asked.cursor === undefined ? all.slice(asked.offset) : all.filter(isPast);
  const page = rest.slice(0, asked.limit);
  const last = page.at(-1);
  const has_more = rest.length > page.length;
  return { page, info: { total: all.length, has_more, ...(has_more && last && { next_cursor: cursorAt(last) }) } };
}

/** A page of a list that is there as a whole and stands still. */
export function slicePage<T>(
  asked: Omit<Asked, "cursor">,
  all: readonly T[],
): { page: T[]; info: ReturnType<typeof pageInfo> } {
  const page = all.slice(asked.offset, asked.offset + asked.limit);
  return { page, info: pageInfo(asked, page.length, all.length) };
}
