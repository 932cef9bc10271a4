import { type Client, isAppError } from "@cognition/client";
import type { Session } from "@cognition/contract";
import { byId, element } from "./element.ts";
import { oneLine, textOf } from "./words.ts";

const PAGE = 50;
const TITLE = 60;
/** First words of sessions without a title, by their id. */
const firstWords = new Map<string, string>();

/** Fills the list, newest first. */
export async function showSessions(client: Client, cursor?: string): Promise<void> {
  const { sessions, next_cursor } = await client.listSessions({ limit: PAGE, ...(cursor && { cursor }) });
  const items = sessions.map((session) => item(client, session));
  const list = byId("ul", "list");
  if (cursor === undefined) list.replaceChildren(...items);
  else list.append(...items);
  const more = byId("button", "more");
  more.hidden = next_cursor === undefined;
  more.onclick = () => void showSessions(client, next_cursor);
  markCurrent();
}

/** The one whose id is in the address. */
export function markCurrent(): void {
  let title = "Cognition";
  for (const link of document.querySelectorAll<HTMLAnchorElement>("#sessions a")) {
    const isCurrent = link.hash === (location.hash || "#new");
    link.ariaCurrent = isCurrent ? "page" : null;
    if (isCurrent && link.id !== "new") title = link.firstChild?.textContent ?? title;
  }
  byId("h1", "title").textContent = title;
  document.title = title;
}

function item(client: Client, session: Session): HTMLElement {
  const title = element("span", {}, oneLine(session.title ?? firstWords.get(session.id) ?? "", TITLE) || "Untitled");
  const link = element("a", { href: `#${session.id}` }, title);
  if (session.title === null && session.message_count > 0) void nameByFirstWords(client, session.id, title);
  for (const what of marksOf(session)) link.append(element("small", {}, what));
  return element("li", {}, link);
}

function marksOf({ parent, status, active_run_id }: Session): string[] {
  const at = status === "waiting_for_approval" ? ["waits for you"] : active_run_id ? ["working"] : [];
  return [...(parent ? ["branch"] : []), ...at];
}

async function nameByFirstWords(client: Client, id: string, title: HTMLElement): Promise<void> {
  if (firstWords.has(id)) return;
  try {
    const { messages } = await client.getMessages(id, { role: "user", order: "asc", limit: 1 });
    firstWords.set(id, textOf(messages[0]?.content ?? ""));
    title.textContent = oneLine(firstWords.get(id) ?? "", TITLE) || "Untitled";
    markCurrent();
  } catch (error) {
    // Deleted since the list was made, which the next one will not have.
    if (!isAppError(error, "session_not_found")) throw error;
  }
}
