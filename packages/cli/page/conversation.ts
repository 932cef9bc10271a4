import type { LogEvent, SessionEvent } from "@cognition/client";
import { type ApprovalsView, createApprovalsView } from "./approvals.ts";
import { button, byId, element } from "./element.ts";
import { createGoingBack, type GoingBack } from "./going-back.ts";
import { type HistoryParts, showHistory, showNewest } from "./history.ts";
import { createLogView } from "./log-view.ts";
import { note, showEvent } from "./show.ts";

export interface ConversationParts extends Pick<HistoryParts, "client" | "session_id" | "onError"> {
  /** What the page tells beside the conversation. */
  readonly say: (text: string) => void;
  /** Something happened that a list of conversations tells of. */
  readonly onChange: () => void;
  /** A message was taken back. */
  readonly onTakenBack: (text: string) => void;
}

export interface Conversation {
  send(text: string): Promise<void>;
  stop(): void;
  /** Takes back the last message, what came of it, and what that did to files. */
  undo(): void;
  /** Lets go of the connection while nobody looks: a browser has six for all its tabs. */
  rest(): void;
  /** Takes it up again, at once. */
  wake(): void;
  close(): void;
}

interface State extends ConversationParts, HistoryParts {
  readonly accepted: Map<string, HTMLElement>;
  readonly approvals: ApprovalsView;
  readonly goingBack: GoingBack;
  /** Runs that have begun and not ended. */
  readonly working: Set<string>;
}

/** Shows a session and all that happens to it, whoever began it: what is sent goes one way, the session's log comes the other. */
export function openConversation(parts: ConversationParts): Conversation {
  let leave = new AbortController();
  const view = createLogView(byId("div", "log"));
  const onError = (error: unknown) => {
    if (!leave.signal.aborted) parts.onError(error);
  };
  const approvals = createApprovalsView(
    byId("section", "approvals"),
    (decisions) => parts.client.resumeSession(parts.session_id, { decisions }),
    onError,
  );
  const goingBack = createGoingBack({ ...parts, view, onError });
  const accepted = new Map<string, HTMLElement>();
  const shared = { ...parts, view, onError, approvals, goingBack, accepted, working: new Set<string>() };
  let state: State;
  const wake = () => {
    leave = new AbortController();
    const { signal } = leave;
    state = { ...shared, signal };
    state.working.clear();
    tellWork(state);
    attend(state).catch((error: unknown) => {
      if (signal.aborted) return;
      parts.say(""); // nothing of it is followed any more
      parts.onError(error);
    });
  };
  wake();
  return {
    send: (text) => send(state, text),
    stop: () => void parts.client.abortSession(parts.session_id).catch(onError),
    undo: () => goingBack.undo(),
    rest: () => leave.abort(),
    wake: () => {
      if (leave.signal.aborted) wake();
    },
    close() {
      leave.abort();
      view.clear();
      byId("div", "pending").replaceChildren();
      approvals.show([]);
      goingBack.settled();
      for (const id of ["earlier", "stop", "undo"]) byId("button", id).hidden = true;
    },
  };
}

/** From the stored messages over the run that is at work, or was last, to whatever comes. */
async function attend(state: State): Promise<void> {
  const { client, session_id, signal } = state;
  const options = {
    signal,
    onLost: () => state.say("The connection is lost; trying again …"),
    onReconnect: () => tellWork(state),
  };
  const { active_run_id } = await client.getSession(session_id, { signal });
  const { runs } = await client.listRuns(session_id, { limit: 1 }, { signal });
  const run_id = active_run_id ?? runs[0]?.id;
  await showHistory(state, run_id);
  await askApprovals(state);
  let after = run_id === undefined ? 0 : undefined;
  for await (const event of run_id === undefined ? [] : client.followRun(session_id, run_id, options)) {
    await take(state, event);
    if (event.event !== "reset") after = event.id;
  }
  for await (const event of client.followEvents(session_id, { ...options, after })) await take(state, event);
}

async function take(state: State, event: SessionEvent): Promise<void> {
  if (event.event === "reset" || event.event === "head_moved") {
    if (event.event === "reset") state.working.clear(); // they may never have been
    state.view.clear();
    await showHistory(state);
    // A run that answers anew takes its own half answer back: nobody has put anything back then, nor can undo it.
    if (event.event === "head_moved" && !event.data.run_id) state.goingBack.moved(event.data.previous_head);
    return askApprovals(state);
  }
  const { run_id } = event.data;
  if (event.event === "status" && event.data.status !== "idle" && run_id) await begin(state, run_id);
  showEvent(state.view, event);
  if (event.event === "interrupt") await askApprovals(state);
  if (event.event === "done") await finish(state, event);
  if (event.event === "status" || event.event === "done") state.onChange();
}

/** Whoever sent it: the message stands before what comes of it. */
async function begin(state: State, run_id: string): Promise<void> {
  const isNew = !state.working.has(run_id);
  state.working.add(run_id);
  for (const resume of document.querySelectorAll("#log .resume")) resume.remove();
  state.goingBack.settled();
  if (isNew) await showNewest(state, run_id);
  if (state.approvals.isOpen) await askApprovals(state); // they may be answered
  tellWork(state);
}

async function finish(state: State, { id, data }: Extract<LogEvent, { event: "done" }>): Promise<void> {
  const { client, session_id, view, working, onError } = state;
  working.delete(data.run_id ?? "");
  await showNewest(state); // as it is kept
  await askApprovals(state);
  if (data.status === "succeeded") return;
  note(view, `${data.run_id} end`, id, data.status, "error");
  const again = () => {
    resume.disabled = true;
    client.resumeSession(session_id).catch(onError);
  };
  const resume = button("Resume", again, "resume");
  view.place(`${data.run_id} resume`, id, () => element("p", { className: "note" }, resume));
}

function tellWork({ working, approvals, say }: State): void {
  const isOpen = working.size > 0 || approvals.isOpen;
  byId("div", "log").ariaBusy = String(isOpen && !approvals.isOpen);
  byId("button", "stop").hidden = !isOpen;
  byId("button", "undo").hidden = isOpen || document.querySelector("#log .user") === null;
  say(approvals.isOpen ? "waiting for you" : isOpen ? "working …" : "");
}

async function askApprovals(state: State): Promise<void> {
  const { client, session_id, signal, approvals } = state;
  const page = await client.listApprovals({ session_id, limit: 100 }, { signal });
  approvals.show(page.approvals.filter(({ status }) => status === "waiting"));
  tellWork(state);
}

/** One after the other: what waits for a server that is away would otherwise arrive in any order. */
let sent: Promise<unknown> = Promise.resolve();

async function send(state: State, text: string): Promise<void> {
  const { client, session_id, accepted, signal, onError } = state;
  const pending = element("div", { className: "bubble user pending" }, text);
  byId("div", "pending").append(pending);
  const submitted = sent.then(() => client.submitMessage(session_id, text));
  sent = submitted.catch(() => {}); // told below
  try {
    const { id } = await submitted;
    accepted.set(id, pending);
    if (!signal.aborted) await showNewest(state, id).catch(onError); // sent it is
  } finally {
    pending.remove();
  }
}
