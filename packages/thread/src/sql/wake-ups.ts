/** `any`: some may have gone unheard, so whoever follows should look. */
export type News = readonly string[] | "any";

/**
 * How a process hears that sessions have new events from another process. Only a hint: it may come late, twice or
 * never, and followers look for themselves now and then.
 */
export interface WakeUps {
  /** After the commit. Neither waits nor fails. */
  send(session_id: string): void;
  /** Costs nothing while nobody listens. Gives the way to stop. */
  listen(onNews: (news: News) => void): () => void;
  close(): Promise<void>;
}

/** Stands among session ids for "there is a run to claim, and who put it there does not". */
export const CLAIMABLE = "claimable";

/** Before the id of a session that was deleted. */
const DELETED = "deleted ";

export function deletionOf(session_id: string): string {
  return `${DELETED}${session_id}`;
}

/** The sessions that these news say were deleted; nobody can say which of those that went unheard. */
export function deletedIn(news: News): string[] {
  if (news === "any") return [];
  return news.flatMap((one) => (one.startsWith(DELETED) ? one.slice(DELETED.length) : []));
}

/** For a database that no other process can see. */
export const noWakeUps: WakeUps = {
  send: () => undefined,
  listen: () => () => undefined,
  close: async () => undefined,
};
