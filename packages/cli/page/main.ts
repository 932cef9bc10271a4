import { type Conversation, openConversation } from "./conversation.ts";
import { byId, element, once } from "./element.ts";
import { askIdentity, forgetIdentity, openClient } from "./identity.ts";
import { markCurrent, showSessions } from "./sessions.ts";
import { stayAtEnd } from "./stay-at-end.ts";
import { errorText, oneLine } from "./words.ts";

const TITLE = 80;
let client = openClient();
let conversation: Conversation | undefined;
const text = byId("textarea", "text");
const goToEnd = stayAtEnd(byId("section", "scroll"));

function say(words: string): void {
  byId("p", "state").textContent = words;
}

/** Apart from what is going on, which is told over and over: it stays until something else is asked for. */
function sayFault(words: string): void {
  byId("p", "fault").textContent = words;
}

function onError(error: unknown): void {
  sayFault(askIdentity(error, () => void start()) ? "" : errorText(error));
}

/** What was taken back stands where it was written, if nothing else does. */
function writeAgain(words: string): void {
  text.value ||= words;
  text.focus();
}

let listing = 0;
/** Soon, and once for all that happens until then. */
function listSessions(): void {
  clearTimeout(listing);
  listing = setTimeout(() => void showSessions(client), 200);
}

/** The session's id is in the address: a reload, or the page on another device, shows the same conversation. */
function open(): void {
  conversation?.close();
  sayFault("");
  say(""); // what was told of that one
  const session_id = location.hash.slice(1).replace(/^new$/, "");
  const parts = { client, session_id, say, onError, onChange: listSessions, onTakenBack: writeAgain };
  conversation = session_id === "" ? undefined : openConversation(parts);
  byId("label", "agents").hidden = conversation !== undefined || byId("select", "agent").length < 2;
  showMenu(false);
  markCurrent();
  goToEnd();
}

async function showAgents(): Promise<void> {
  const { agents } = await client.listAgents({ limit: 200 });
  const names = agents.filter(({ mode }) => mode !== "subagent").map(({ name }) => name);
  byId("select", "agent").replaceChildren(
    ...names.map((name) => element("option", { value: name, selected: name === "default" }, name)),
  );
}

async function start(): Promise<void> {
  client = openClient();
  sayFault("");
  say("connecting …");
  try {
    await Promise.all([showSessions(client), showAgents()]);
    say("");
    open();
    text.focus();
  } catch (error) {
    say("");
    onError(error);
  }
}

async function begin(title: string): Promise<void> {
  const agent_name = byId("select", "agent").value || "default";
  text.readOnly = true; // a second message would begin another conversation
  say("sending …");
  try {
    const { id } = await client.createSession({ title, agent_name });
    history.pushState(null, "", `#${id}`);
    open();
    listSessions();
  } finally {
    text.readOnly = false;
  }
}

byId("form", "composer").onsubmit = async (submitted) => {
  submitted.preventDefault();
  const message = text.value.trim();
  if (message === "" || text.readOnly) return;
  text.value = "";
  sayFault("");
  try {
    if (!conversation) await begin(oneLine(message, TITLE));
    goToEnd();
    await conversation?.send(message);
  } catch (error) {
    if (!conversation) say("");
    text.value += text.value === "" ? message : `\n${message}`; // nothing of what somebody wrote is lost
    onError(error);
  }
};
text.onkeydown = (pressed) => {
  if (pressed.key !== "Enter" || pressed.shiftKey || pressed.isComposing) return;
  pressed.preventDefault();
  byId("form", "composer").requestSubmit();
};
byId("button", "stop").onclick = () => void conversation?.stop();
byId("button", "undo").onclick = once(() => conversation?.undo());
byId("button", "forget").onclick = () => {
  forgetIdentity();
  location.reload();
};

function showMenu(isShown: boolean): void {
  byId("button", "menu").ariaExpanded = String(isShown);
  byId("nav", "sessions").classList.toggle("shown", isShown);
}
byId("button", "menu").onclick = () => showMenu(byId("button", "menu").ariaExpanded !== "true");
addEventListener("keydown", ({ key }) => {
  if (key === "Escape") showMenu(false);
});

/** Pressed by a key, a button that goes with its question would leave its user at the page's beginning. A finger needs no keyboard. */
function keepPlace(pressed: Element, detail: number): void {
  const isLeft = document.activeElement === pressed || document.activeElement === document.body;
  if (detail === 0 && isLeft && pressed.closest("#approvals, #log, #stop")) text.focus();
}

addEventListener("click", ({ target, detail }) => {
  const pressed = target instanceof Element ? target.closest("button") : null;
  if (!pressed) return;
  sayFault("");
  keepPlace(pressed, detail);
});
addEventListener("unhandledrejection", ({ reason }) => onError(reason));
addEventListener("hashchange", () => {
  open();
  listSessions(); // it may be a branch that was just made
});
addEventListener("focus", listSessions);
document.addEventListener("visibilitychange", () => {
  if (document.hidden) conversation?.rest();
  else conversation?.wake();
});
void start();
