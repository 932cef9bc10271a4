import type { Client } from "@cognition/client";
import type { Message } from "@cognition/contract";
import { byId } from "./element.ts";
import type { GoingBack } from "./going-back.ts";
import type { LogView } from "./log-view.ts";
import { showMessage } from "./show.ts";

export interface HistoryParts {
  readonly client: Client;
  readonly session_id: string;
  readonly view: LogView;
  readonly goingBack: GoingBack;
  readonly signal: AbortSignal;
  readonly onError: (error: unknown) => void;
  /** What was typed here and has been accepted, by its run: it stands apart until it is read as it is stored. */
  readonly accepted: ReadonlyMap<string, HTMLElement>;
}

const PAGE = 100;

/**
 * The newest messages as they are stored; those that are there already are written anew. Of a run whose events are yet to come
 * there is only what it answers: the rest comes with them, in its place among thoughts and delegations.
 */
export async function showNewest(parts: HistoryParts, except?: string | null): Promise<string | undefined> {
  const { client, session_id, signal } = parts;
  const { messages, next_cursor } = await client.getMessages(session_id, { limit: PAGE }, { signal });
  showAll(
    parts,
    messages.filter(({ run_id, role }) => except == null || run_id !== except || role === "user"),
  );
  return next_cursor;
}

/** The same at the beginning, with a way to those before. */
export async function showHistory(parts: HistoryParts, except?: string | null): Promise<void> {
  offerEarlier(parts, await showNewest(parts, except));
}

function offerEarlier(parts: HistoryParts, cursor: string | undefined): void {
  const { client, session_id, view, signal, onError } = parts;
  const earlier = byId("button", "earlier");
  earlier.hidden = cursor === undefined;
  if (cursor === undefined) return;
  earlier.onclick = () => {
    client.getMessages(session_id, { limit: PAGE, cursor }, { signal }).then(({ messages, next_cursor }) => {
      view.atStart(() => showAll(parts, messages));
      offerEarlier(parts, next_cursor);
    }, onError);
  };
}

function showAll({ view, goingBack, accepted }: HistoryParts, newestFirst: readonly Message[]): void {
  for (const message of newestFirst.toReversed()) {
    accepted.get(message.run_id ?? "")?.remove();
    showMessage(view, message);
    goingBack.offer(message);
  }
}
