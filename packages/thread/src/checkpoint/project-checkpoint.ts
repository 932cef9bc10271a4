import { type MessageFields, messageFieldsOf, messageIdOf } from "./message-fields.ts";

export const MESSAGES = "messages";

/** The checkpoint that messages came with. */
export interface Origin {
  run_id: string | null;
  checkpoint_id: string;
  created_at: string;
}

interface Lists {
  messages: unknown;
  /** The messages of the head's state, if they are known. */
  before: readonly unknown[] | undefined;
  /** The pieces of the list, and of the one in the head's state, if they are nothing else. */
  now: readonly number[] | undefined;
  then: readonly number[] | undefined;
}

/** A message of the state as its row is to have it. */
export interface ProjectedMessage {
  id: string;
  fields: MessageFields;
}

/** What makes the conversation follow a checkpoint. */
export interface ProjectedChange extends Origin {
  /** New, or different from what the rows say. */
  changed: ProjectedMessage[];
  /** They came after all that was there. */
  appended: boolean;
  /** If messages have left the state: the ids of those that are still there. */
  stayed: readonly string[] | undefined;
  /** The first of a run's attempt: what was pending before it is in it by now, or never will be. */
  begins?: boolean;
}

/** Of a checkpoint that comes right after the head. `undefined` when only a rebuild can tell. */
export function projectCheckpoint(origin: Origin, lists: Lists): ProjectedChange | undefined {
  const { now, then } = lists;
  const messages = lists.messages ?? [];
  if (!Array.isArray(messages) || !now || !then || now.length !== messages.length) return undefined;
  const kept = keptOf(now, then);
  if (kept === undefined) return undefined;
  const changed = projectedMessages(messages.slice(kept));
  if (changed.length < messages.length - kept) return undefined;
  if (kept < then.length && changed.length > 0 && !isInOrder(messages, lists.before)) return undefined;
  const stayed = kept < then.length ? messages.map((message) => messageIdOf(message) ?? "") : undefined;
  return { ...origin, changed, appended: kept === then.length, stayed };
}

/** Without those that have no id, or are no messages: a graph may keep anything in its list. */
export function projectedMessages(messages: readonly unknown[]): ProjectedMessage[] {
  return messages.flatMap((message) => {
    const [id, fields] = [messageIdOf(message), messageFieldsOf(message)];
    return id !== undefined && fields ? [{ id, fields }] : [];
  });
}

/** More than a step adds: for so many it is quicker to look them up. */
const FEW = 16;

/**
 * How many messages of the head's state there are at the beginning. Messages may only be added or changed at the end,
 * and only be taken away before it: another order is a rebuild.
 */
function keptOf(now: readonly number[], then: readonly number[]): number | undefined {
  let same = 0;
  while (same < then.length && now[same] === then[same]) same++;
  const added = now.slice(same);
  if (same === then.length && added.length <= FEW) {
    return added.some((number) => then.includes(number)) ? undefined : same;
  }
  const known = new Set(then);
  const firstNew = now.findIndex((number) => !known.has(number));
  const kept = firstNew === -1 ? now.length : firstNew;
  if (!isSubsequence(now.slice(0, kept), then) || now.slice(kept).some((number) => known.has(number))) return undefined;
  return kept;
}

function isSubsequence<T>(part: readonly T[], whole: readonly T[]): boolean {
  let at = 0;
  for (const one of whole) if (one === part[at]) at++;
  return at === part.length;
}

/** Whether those that were there come first, as they came then: an edited message has another piece, and keeps its place. */
function isInOrder(messages: readonly unknown[], before: readonly unknown[] | undefined): boolean {
  if (!before || before === messages) return false;
  const then = before.map(messageIdOf);
  const known = new Set(then);
  const now = messages.map(messageIdOf);
  const firstNew = now.findIndex((id) => !known.has(id));
  const old = firstNew === -1 ? now : now.slice(0, firstNew);
  return isSubsequence(old, then) && !now.slice(old.length).some((id) => known.has(id));
}
