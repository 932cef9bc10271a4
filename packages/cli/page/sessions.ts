import { type Client, isAppError } from "@cognition/client";
import type { Session } from "@cognition/contract";
import { byId, element } from "./element.ts";
import { oneLine, textOf } from "./words.ts";

const PAGE = 50;
const LONGEST_PAGE = 500; // that the server gives at once
const TITLE = 60;
/** First words of sessions without a title, by their id. */
const firstWords = new Map<string, string>();

/** Fills the list, newest first, as far as it was shown. */
export async function showSessions(client: Client, cursor?: string): Promise<void> {
  const list = byId("ul", "list");
  const limit = cursor === undefined ? Math.min(Math.max(list.children.length, PAGE), LONGEST_PAGE) : PAGE;
  const { sessions, next_cursor } = await client.listSessions({ limit, ...(cursor && { cursor }) });
  const items = sessions.map((session) => item(client, session, list));
  if (cursor === undefined) replaceItems(list, items);
  else list.append(...items);
  const more = byId("button", "more");
  more.hidden = next_cursor === undefined;
  more.onclick = () => void showSessions(client, next_cursor);
  markCurrent();
}

/** One that stays is not even moved: somebody may stand on it with the keyboard, or have its button down. */
function replaceItems(list: HTMLElement, items: readonly HTMLElement[]): void {
  const kept = new Set<Element>(items);
  for (const each of [...list.children]) if (!kept.has(each)) each.remove();
  items.forEach((each, at) => {
    const there = list.children[at] ?? null;
    if (there !== each) list.insertBefore(each, there);
  });
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

/** What the list has of it already, as it is now. */
function item(client: Client, session: Session, list: HTMLElement): HTMLElement {
  const href = `#${session.id}`;
  const made = list.querySelector(`a[href="${href}"]`)?.parentElement ?? newItem(href);
  const link = made.firstElementChild as HTMLElement;
  const title = link.firstElementChild as HTMLElement;
  title.textContent = oneLine(session.title ?? firstWords.get(session.id) ?? "", TITLE) || "Untitled";
  if (session.title === null && session.message_count > 0) void nameByFirstWords(client, session.id, title);
  for (const mark of link.querySelectorAll("small")) mark.remove();
  link.append(...marksOf(session).map((what) => element("small", {}, what)));
  return made;
}

function newItem(href: string): HTMLElement {
  return element("li", {}, element("a", { href, dir: "auto" }, element("span")));
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
