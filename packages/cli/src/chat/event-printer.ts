import type { LogEvent, SessionEvent } from "@cognition/client";
import type { ContentBlock, StopReason } from "@cognition/contract";
import { oneLine, plainText } from "../terminal/print.ts";

export interface EventPrinter {
  print(event: SessionEvent): void;
  /** The user has answered a question: that the run goes on is no news then. */
  answered(): void;
}

const NAME_SHOWN = 100;
const ARGUMENTS_SHOWN = 160;
const RESULT_SHOWN = 400;

/** Shows what an agent says and does as it happens. */
export function createEventPrinter(output: { write(text: string): unknown }, json: boolean): EventPrinter {
  if (json) return { print: (event) => void output.write(`${JSON.stringify(event)}\n`), answered() {} };
  // Whether something stands on the line already: a note begins on one of its own.
  let inLine = false;
  let expected = false;
  /** Messages that came word by word. */
  const spoken = new Set<string | null | undefined>();
  const say = (text: string) => {
    const plain = plainText(text);
    if (plain === "") return;
    output.write(plain);
    inLine = !plain.endsWith("\n");
  };
  const note = (text: string) => say(`${inLine ? "\n" : ""}${text}\n`);
  return {
    answered() {
      expected = true;
    },
    print(event) {
      if (event.event === "reset") note("  (the server's log was set back; earlier text may be gone)");
      else if (event.event === "status" && event.data.status === "resuming" && expected) expected = false;
      else {
        say(wordsIn(event, spoken));
        const text = describe(event);
        if (text !== undefined) note(text);
      }
    },
  };
}

/** What goes out as it comes; each message is noted that comes word by word. */
function wordsIn(event: LogEvent, spoken: Set<string | null | undefined>): string {
  switch (event.event) {
    case "token":
      spoken.add(event.data.message_id);
      return event.data.content;
    case "tool_output":
      return event.data.content;
    case "done":
      // What a graph of a user's own says need not come from a model: then it is told at the end alone.
      return spoken.has(event.data.message_id) ? "" : textOf(event.data.assistant_data?.content);
    default:
      return "";
  }
}

function textOf(content: string | ContentBlock[] = ""): string {
  if (typeof content === "string") return content;
  return content.map(({ text }) => (typeof text === "string" ? text : "")).join("");
}

/** Nothing for events that a person need not see. */
function describe(event: LogEvent): string | undefined {
  const { data } = event;
  const who = "agent" in data && data.agent !== undefined ? `${oneLine(data.agent, NAME_SHOWN)}: ` : "";
  switch (event.event) {
    case "tool_call":
      return `  · ${who}${oneLine(event.data.name, NAME_SHOWN)} ${oneLine(JSON.stringify(event.data.args), ARGUMENTS_SHOWN)}`;
    case "tool_result":
      return describeResult(event.data);
    case "planning":
      return event.data.items
        .map(({ content, status }) => `  ${status === "completed" ? "[x]" : "[ ]"} ${who}${oneLine(content, 100)}`)
        .join("\n");
    case "delegation":
      return `  → ${oneLine(event.data.target_agent, NAME_SHOWN)}: ${oneLine(event.data.task, ARGUMENTS_SHOWN)}`;
    case "error":
      return `  ${event.data.code}: ${event.data.message}`;
    case "status":
      return event.data.status === "resuming"
        ? "  (the server was interrupted; the answer goes on from its last step)"
        : undefined;
    case "done":
      return describeEnd(event.data);
    default:
      return undefined;
  }
}

const STOPPED: Readonly<Record<StopReason, string>> = {
  max_tokens: "  (cut off: the answer reached its maximum length, max_tokens)",
  refusal: "  (cut off: the provider would say no more of the answer)",
};

function describeEnd({ status, stop_reason }: Extract<LogEvent, { event: "done" }>["data"]): string {
  const lines = [stop_reason ? STOPPED[stop_reason] : "", status === "succeeded" ? "" : `  (${status})`];
  return lines.filter(Boolean).join("\n");
}

function describeResult({ outcome, exit_code, output }: Extract<LogEvent, { event: "tool_result" }>["data"]): string {
  const code = exit_code ? ` (exit code ${exit_code})` : "";
  const mark = outcome === "ok" ? "  =" : `  ${outcome}:`;
  return `${mark}${code} ${oneLine(output, RESULT_SHOWN)}`;
}
