import type { LogEvent } from "@cognition/client";
import type { Message, StopReason, ToolCall } from "@cognition/contract";
import { element } from "./element.ts";
import type { LogView } from "./log-view.ts";
import { oneLine, shown, textOf } from "./words.ts";

type DataOf<T extends LogEvent["event"]> = Extract<LogEvent, { event: T }>["data"];

/** As it is stored: nothing that comes of it later is new. */
export function showMessage(view: LogView, message: Message): void {
  const { id, role, content, tool_calls, tool_call_id, metadata } = message;
  const text = textOf(content);
  if (role === "tool") showResult(view, 0, tool_call_id ?? id, text);
  else if (text !== "" && role !== "system") {
    bubble(view, id, 0, role);
    view.write(id, text);
  }
  for (const call of tool_calls) showCall(view, 0, call);
  const stopped = STOPPED[metadata["stop_reason"] as StopReason];
  if (stopped !== undefined) note(view, `${id} stopped`, 0, stopped, "error");
}

const STOPPED: Readonly<Partial<Record<StopReason, string>>> = {
  max_tokens: "Cut off: the answer reached its maximum length (max_tokens).",
  refusal: "Cut off: the provider would say no more of the answer.",
};

type Shows = { readonly [T in LogEvent["event"]]?: (view: LogView, at: number, data: DataOf<T>) => void };

/** What is not here, a person need not see. */
const SHOWS: Shows = {
  token: (view, at, { run_id, message_id = `${run_id} text`, agent, content, folded_from }) => {
    bubble(view, message_id, at, agent === undefined ? "assistant" : "subagent", agent);
    view.append(message_id, at, content, folded_from);
  },
  reasoning: showReasoning,
  tool_call: showCall,
  tool_output: (view, at, { tool_call_id, content }) => {
    card(view, at, tool_call_id);
    view.append(`${tool_call_id} output`, at, content);
  },
  tool_result: (view, at, data) => showResult(view, at, data.tool_call_id, data.output, data),
  planning: showPlan,
  delegation: (view, at, data) => note(view, `${at} delegation`, at, `→ ${data.target_agent}: ${data.task}`),
  usage: (view, at, data) => {
    view.remove(`${data.run_id} usage`); // it is of all that stands above
    note(view, `${data.run_id} usage`, at, usageText(data));
  },
  error: (view, at, data) => note(view, `${at} error`, at, `${data.code}: ${data.message}`, "error"),
  status: (view, _, { discard_after }) => {
    if (discard_after !== undefined) view.discardAfter(discard_after);
  },
};

export function showEvent(view: LogView, event: LogEvent): void {
  const show = SHOWS[event.event] as ((view: LogView, at: number, data: LogEvent["data"]) => void) | undefined;
  show?.(view, event.id, event.data);
}

/** A line about the run, which is written anew where it is there already. */
export function note(view: LogView, id: string, at: number, text: string, kind = ""): void {
  view.place(id, at, () => element("p", { className: `note ${kind}` }));
  view.write(id, text);
}

function bubble(view: LogView, id: string, at: number, kind: string, agent?: string): void {
  view.place(id, at, () => {
    const made = element("div", { className: `bubble ${kind}`, ariaLabel: agent ?? kind });
    if (agent !== undefined) made.dataset["agent"] = agent;
    made.role = "article";
    return made;
  });
}

function showReasoning(view: LogView, at: number, data: DataOf<"reasoning">): void {
  const id = `${data.message_id ?? data.run_id} reasoning`;
  const make = () => element("details", { className: "reasoning" }, element("summary", {}, "Thoughts"));
  const within = view.place(id, at, make);
  view.place(`${id} text`, at, () => element("pre"), within);
  view.append(`${id} text`, at, data.content, data.folded_from);
}

/** A tool's call and what came of it, folded. */
function card(view: LogView, at: number, id: string): HTMLElement {
  const made = view.place(id, at, () => {
    const parts = [element("summary", {}, element("code", {}, "tool"), element("span", { className: "outcome" }))];
    return element("details", { className: "tool" }, ...parts, element("pre", { className: "args" }));
  });
  view.place(`${id} output`, at, () => element("pre", { className: "output" }), made);
  return made;
}

function showCall(
  view: LogView,
  at: number,
  { id, name, args, agent }: ToolCall & { agent?: string | undefined },
): void {
  const made = card(view, at, id);
  const who = agent === undefined ? "" : `${agent}: `;
  made.querySelector("code")?.replaceChildren(`${who}${name} ${oneLine(JSON.stringify(args), 120)}`);
  made.querySelector(".args")?.replaceChildren(argumentsText(args));
}

function argumentsText(args: ToolCall["args"]): string {
  return Object.entries(args)
    .map(([name, value]) => `${name}: ${shown(value)}`)
    .join("\n");
}

/** Stored messages know the output alone; how it came to its end, its event has told. */
function showResult(view: LogView, at: number, id: string, output: string, end?: DataOf<"tool_result">): void {
  const made = card(view, at, id);
  view.write(`${id} output`, output);
  if (!end) return;
  const words = [end.outcome === "ok" ? "" : end.outcome, end.exit_code ? `exit code ${end.exit_code}` : ""];
  made.dataset["outcome"] = end.outcome;
  made.querySelector(".outcome")?.replaceChildren(words.filter(Boolean).join(", ") || "✓");
}

function showPlan(view: LogView, at: number, { run_id, agent, items }: DataOf<"planning">): void {
  const ariaLabel = agent === undefined ? "Plan" : `Plan of ${agent}`;
  const list = view.place(`${run_id} ${ariaLabel}`, at, () => element("ul", { className: "plan", ariaLabel }));
  const marks = { pending: "☐", in_progress: "▸", completed: "☑" };
  list.replaceChildren(
    ...items.map(({ content, status }) => element("li", { className: status }, `${marks[status]} ${content}`)),
  );
}

function usageText({ model, input_tokens, output_tokens, estimated_cost }: DataOf<"usage">): string {
  const cost = !estimated_cost ? "" : ` · $${estimated_cost.toFixed(4)}`;
  return `${model} · ${input_tokens} tokens in, ${output_tokens} out${cost}`;
}
