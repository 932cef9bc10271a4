import { createClient } from "@cognition/client";
import { createView } from "./view.js";

const byId = (id) => document.getElementById(id);
const baseUrl = new URLSearchParams(location.search).get("server") ?? "http://127.0.0.1:8000";
// Not tried again in silence: whoever looks at the page is told at once, and can reload it. Streams reconnect all the same.
const client = createClient({ baseUrl, retries: 0 });
const view = createView(byId("log"));
const say = (text) => {
  byId("state").textContent = text;
};
const sayError = (error) => say(`${error.code ?? "error"}: ${error.message}`);

const textOf = (content) => (typeof content === "string" ? content : content.map(({ text }) => text ?? "").join(""));

/** The session's id is in the address: a reload, or the page on another device, shows the same conversation. */
async function openSession() {
  const id = location.hash.slice(1);
  if (id) return client.getSession(id);
  const session = await client.createSession({ title: "Chat page" });
  history.replaceState(null, "", `#${session.id}`);
  return session;
}

async function showHistory() {
  for (let offset = 0; ; offset += 200) {
    const { messages, has_more } = await client.getMessages(session.id, { order: "asc", limit: 200, offset });
    for (const { id, role, content, tool_calls, tool_call_id } of messages) {
      for (const call of tool_calls) view.set(call.id, "tool", `${call.name} ${JSON.stringify(call.args)}`);
      if (role === "tool") view.set(`${tool_call_id} result`, "tool", textOf(content));
      else if (textOf(content) !== "") view.set(id, role, textOf(content));
    }
    if (!has_more) return;
  }
}

function show({ id, event, data }) {
  if (event === "token") view.append(data.message_id, "assistant", id, data.content);
  if (event === "tool_call") view.set(data.id, "tool", `${data.name} ${JSON.stringify(data.args)}`);
  if (event === "tool_result") view.set(`${data.tool_call_id} result`, "tool", data.output);
  if (event === "status" && data.discard_after !== undefined) view.discardAfter(data.discard_after);
  if (event === "error") say(`${data.code}: ${data.message}`);
  if (event === "done" && data.assistant_data) {
    const { id: message, content } = data.assistant_data;
    if (textOf(content) !== "") view.set(message, "assistant", textOf(content));
  }
}

/** One question for each that waits; the run goes on when all of them are answered. The agent's definition says what may be answered. */
function ask(interrupts) {
  const decisions = [];
  for (const { id, tool_name, args, value, allowed_decisions } of interrupts) {
    const question = tool_name ? `May I call ${tool_name} ${JSON.stringify(args)}?` : JSON.stringify(value);
    const wanted = allowed_decisions.includes("approve") ? ["approve", "reject"] : ["respond", "reject"];
    const offered = wanted.filter((type) => allowed_decisions.includes(type));
    view.ask(id, question, offered, (type) => {
      decisions.push(type === "respond" ? { id, type, value: prompt(question) ?? "" } : { id, type });
      if (decisions.length === interrupts.length) void follow(client.resumeAndFollow(session.id, { decisions }));
    });
  }
}

/** The client reconnects by itself, and gives each event once. */
async function follow(stream) {
  byId("stop").disabled = false;
  say("…");
  try {
    let last;
    for await (const event of stream) {
      show(event);
      last = event;
    }
    // Only what it ends with: a question in its middle has been answered already.
    if (last?.event === "interrupt") ask(last.data.interrupts);
    say(last?.event === "interrupt" ? "waiting for you" : (last?.data.status ?? ""));
  } catch (error) {
    sayError(error);
  }
  byId("stop").disabled = true;
}

byId("form").onsubmit = (submitted) => {
  submitted.preventDefault();
  const text = byId("text").value;
  byId("text").value = "";
  view.set(crypto.randomUUID(), "user", text);
  void follow(client.sendMessage(session.id, text));
};
byId("stop").onclick = () => client.abortSession(session.id).catch(sayError);

/** What the person in front of the page can do about it, where the error itself can't know. */
const ADVICE = {
  // A browser tells a page nothing of why it was refused.
  server_unreachable: `Is the server running, and was it started with COGNITION_CORS_ORIGINS=${location.origin}?`,
  session_not_found: "Remove what follows # in the address to begin a new conversation.",
  unauthorized: "Give createClient in chat.js an apiKey or a token.",
  scope_required: "Give createClient in chat.js a scope.",
};

let session;
try {
  say(`connecting to ${baseUrl} …`);
  session = await openSession();
  await showHistory();
  const { approvals } = await client.listApprovals({ session_id: session.id });
  say("");
  byId("send").disabled = false;
  if (approvals.length > 0) {
    ask(approvals);
    say("waiting for you");
  } else if (session.active_run_id) void follow(client.followRun(session.id, session.active_run_id));
  document.body.dataset.ready = "true";
} catch (error) {
  sayError({ code: error.code, message: [error.message, ADVICE[error.code]].filter(Boolean).join(" ") });
}
