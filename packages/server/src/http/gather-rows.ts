import { AppError, MAX_ANSWER_BYTES } from "@cognition/contract";

/** Rows are up to a megabyte each: no more of them are read in one piece. */
const PORTION = 64;

/**
 * So many rows of a list, or all that there are, read in portions: a page of the largest would take all of the process's
 * memory, and its time, from everybody else. `next` reads on from the rows that there are.
 */
export async function gatherRows<T>(
  wanted: number,
  next: (count: number, found: readonly T[]) => Promise<readonly T[]>,
): Promise<T[]> {
  const found: T[] = [];
  let bytes = 0;
  while (found.length < wanted) {
    const count = Math.min(PORTION, wanted - found.length);
    const portion = await next(count, found);
    found.push(...portion);
    if (portion.length < count) break;
    // One portion alone may be as large as it is.
    if (found.length < wanted) bytes += Buffer.byteLength(JSON.stringify(portion));
    if (bytes > MAX_ANSWER_BYTES) throw tooLarge();
  }
  return found;
}

/** Of rows that are all there already: the answer is refused before it is put together. */
export function requireAnswerable(rows: readonly unknown[]): void {
  let bytes = 0;
  for (const row of rows) {
    bytes += Buffer.byteLength(JSON.stringify(row));
    if (bytes > MAX_ANSWER_BYTES) throw tooLarge();
  }
}

export function tooLarge(cause?: unknown): AppError {
  const message = "The answer is larger than one may be. Ask for less of it at a time, with a lower limit.";
  return new AppError("limit_exceeded", message, {
    details: { limit: "answer" },
    ...(cause !== undefined && { cause }),
  });
}
