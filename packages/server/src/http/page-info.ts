/** What a page says about the rest of its list. */
export function pageInfo({ offset }: { offset: number }, count: number, total: number) {
  return { total, has_more: offset + count < total };
}
