import { AppError } from "@cognition/contract";

/** A cursor that nobody reads would quietly give the first page again and again. */
export function refuseCursor({ cursor }: { cursor?: string | undefined }): void {
  if (cursor === undefined) return;
  const msg = "this list has no cursor; use offset";
  throw new AppError("validation_failed", msg, { details: { errors: [{ loc: ["query", "cursor"], msg }] } });
}

/** What a page says about the rest of its list. */
export function pageInfo(query: { offset: number; cursor?: string | undefined }, count: number, total: number) {
  refuseCursor(query);
  return { total, has_more: query.offset + count < total };
}

interface Asked {
  readonly limit: number;
  readonly offset: number;
  readonly cursor?: string | undefined;
}

/** A page of a list that is there as a whole. */
export function slicePage<T>(asked: Asked, all: readonly T[]): { page: T[]; info: ReturnType<typeof pageInfo> } {
  const page = all.slice(asked.offset, asked.offset + asked.limit);
  return { page, info: pageInfo(asked, page.length, all.length) };
}
