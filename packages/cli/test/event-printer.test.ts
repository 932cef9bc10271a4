import type { SessionEvent } from "@cognition/client";
import { expect, test } from "vitest";
import { createEventPrinter } from "../src/chat/event-printer.ts";

function printed(...events: object[]): string {
  let text = "";
  const printer = createEventPrinter({ write: (more) => (text += more) }, false);
  for (const event of events) printer.print(event as SessionEvent);
  return text;
}

const token = (message_id: string, content: string) => ({ event: "token", data: { message_id, content } });
const done = (id: string, content: unknown) => ({
  event: "done",
  data: { status: "succeeded", message_id: id, assistant_data: { id, content } },
});

test("an answer that came word by word is not said again at its end", () => {
  expect(printed(token("m", "Hello "), token("m", "there"), done("m", "Hello there"))).toBe("Hello there\n\n");
});

test("one that did not, as of a graph without a model, is said at its end", () => {
  expect(printed(token("other", "Thinking.\n"), done("m", "Ordered 3"))).toBe("Thinking.\nOrdered 3\n\n");
  expect(printed(done("m", [{ type: "text", text: "in blocks" }, { type: "image" }]))).toBe("in blocks\n\n");
});

test("an answer that is not whole says so behind its last word", () => {
  const cut = (stop_reason: string) => ({ event: "done", data: { ...done("m", "").data, stop_reason } });
  expect(printed(token("m", "Once upon"), cut("max_tokens"))).toMatch(/^Once upon\n {2}\(cut off: .*max_tokens\)\n$/);
  expect(printed(token("m", "Once upon"), cut("refusal"))).toMatch(/^Once upon\n {2}\(cut off: .*provider.*\)\n$/);
});

test("nothing is said where there is no answer", () => {
  const data = { status: "failed", message_id: null, assistant_data: null };
  expect(printed({ event: "done", data })).toBe("  (failed)\n");
});

test("what a model or a tool wrote does not steer the terminal, wherever it stands", () => {
  const evil = "\x1b]0;title\x07\x1b[2J\u009b1A\rname";
  const text = printed(
    token("m", evil),
    { event: "tool_call", data: { id: "c", name: `${evil}\n  = forged`, args: {}, agent: evil } },
    { event: "tool_result", data: { outcome: "ok", exit_code: 0, output: evil } },
    { event: "delegation", data: { target_agent: evil, task: evil } },
    { event: "error", data: { code: evil, message: evil } },
  );
  // biome-ignore lint/suspicious/noControlCharactersInRegex: those must not be there
  expect(text).not.toMatch(/[\x00-\x09\x0b-\x1f\x7f-\x9f]/);
  expect(text).not.toMatch(/^ {2}= forged/m);
});
