import { describe, expect, it } from "vitest";
import {
  CLOSING_EVENT_TYPES,
  EVENT_DATA,
  EVENT_TYPES,
  EventPage,
  EventType,
  isTerminalEvent,
  ListEvents,
  LOGGED_EVENT_TYPES,
  LoggedEventType,
  StoredEvent,
  StreamEvent,
  TERMINAL_EVENT_TYPES,
} from "../src/index.ts";
import { message, NOW } from "./examples.ts";
import { refusal } from "./refusal.ts";

type Example = { event: EventType; documented: Record<string, unknown>; added?: Record<string, unknown> };

/** The fields of the first documents, and what the API has added to them since. */
const SEED_EXAMPLES: Example[] = [
  { event: "token", documented: { content: "Here" } },
  { event: "token", documented: { content: " is" } },
  { event: "tool_call", documented: { name: "bash", args: { command: "ls -la" }, id: "call_1" } },
  {
    event: "tool_result",
    documented: { tool_call_id: "call_1", output: "total 0", exit_code: 0 },
    added: { outcome: "ok" },
  },
  {
    event: "planning",
    documented: { todos: ["read", "write"] },
    added: {
      items: [
        { content: "read", status: "completed" },
        { content: "write", status: "pending" },
      ],
    },
  },
  { event: "step_complete", documented: { step_number: 1, total_steps: 2, description: "read" } },
  { event: "delegation", documented: { target_agent: "security-auditor", task: "look at the diff" } },
  { event: "status", documented: { status: "thinking" } },
  { event: "status", documented: { status: "idle" } },
  {
    event: "usage",
    documented: { input_tokens: 1840, output_tokens: 412, estimated_cost: 0.0117, provider: "openai", model: "gpt-4o" },
    added: { by_model: { "gpt-4o": { input_tokens: 1840, output_tokens: 412, estimated_cost: 0.0117 } } },
  },
  { event: "error", documented: { message: "no answer", code: "model_failed" }, added: { recoverable: true } },
  { event: "done", documented: { assistant_data: message }, added: { status: "succeeded", message_id: message.id } },
];

const OTHER_EXAMPLES: Example[] = [
  { event: "reasoning", documented: { content: "hm" } },
  { event: "tool_output", documented: { tool_call_id: "call_1", content: "line\n" } },
  {
    event: "interrupt",
    documented: {
      interrupts: [
        { id: "i1", tool_call_id: "call_1", tool_name: "bash", args: {}, allowed_decisions: ["approve", "reject"] },
        { id: "i2", value: { question: "which?" }, allowed_decisions: ["respond"] },
      ],
    },
  },
  { event: "checkpoint", documented: { checkpoint_id: "c1", step: -1 } },
  { event: "head_moved", documented: { head: "c1", previous_head: "c2" } },
  { event: "custom", documented: { anything: [1, { a: null }] } },
];

function stored(example: Example, run_id: string | null = "run-1") {
  const data = { run_id, ...example.documented, ...example.added };
  return { id: 42, session_id: "s", run_id, event: example.event, data, created_at: NOW };
}

const ALL = [...SEED_EXAMPLES, ...OTHER_EXAMPLES];

describe("StoredEvent", () => {
  it.each(ALL)("takes $event as documented", (example) => {
    expect(StoredEvent.parse(stored(example))).toEqual(stored(example));
    const { id, event, data } = stored(example);
    expect(StreamEvent.parse({ id, event, data })).toEqual({ id, event, data });
  });

  it.each(ALL.filter((example) => example.event !== "custom"))("needs every documented field of $event", (example) => {
    for (const field of Object.keys(stored(example).data)) {
      const whole = stored(example);
      const { [field]: _, ...data } = whole.data as Record<string, unknown>;
      expect(StoredEvent.safeParse({ ...whole, data }).success, `without ${field}`).toBe(false);
    }
  });

  it.each(ALL.filter((example) => example.event !== "custom"))(
    "refuses a field that $event does not have",
    (example) => {
      const whole = stored(example);
      expect(StoredEvent.safeParse({ ...whole, data: { ...whole.data, surprise: 1 } }).success).toBe(false);
    },
  );

  it("has an example here of every event of the log", () => {
    expect(new Set(ALL.map((example) => example.event))).toEqual(new Set(LOGGED_EVENT_TYPES));
  });

  it("carries message_id and agent where there is one", () => {
    const token = stored({ event: "token", documented: { content: "x", message_id: "m", agent: "researcher" } });
    expect(StoredEvent.parse(token)).toEqual(token);
  });

  it("may belong to no run", () => {
    const moved = stored({ event: "head_moved", documented: { head: "c1", previous_head: null } }, null);
    expect(StoredEvent.parse(moved)).toEqual(moved);
  });

  it.each([0, -1, 1.5, "42", null])("refuses id %j", (id) => {
    const token = stored({ event: "token", documented: { content: "x" } });
    expect(StoredEvent.safeParse({ ...token, id }).success).toBe(false);
  });

  it("refuses another outcome, end, or error code", () => {
    const wrong: Example[] = [
      { event: "tool_result", documented: { tool_call_id: "c", output: "", exit_code: 0, outcome: "maybe" } },
      { event: "done", documented: { status: "running", assistant_data: null, message_id: null } },
      { event: "error", documented: { message: "x", code: "made_up", recoverable: false } },
      { event: "interrupt", documented: { interrupts: [] } },
    ];
    for (const example of wrong) expect(StoredEvent.safeParse(stored(example)).success, example.event).toBe(false);
  });
});

describe("events of a connection", () => {
  const reconnected = { event: "reconnected", data: { last_event_id: 41, replayed: 3, folded: false } };
  const reset = { event: "reset", data: { head: 7 } };

  it("are on the stream, not in the log, and have no id", () => {
    for (const event of [reconnected, reset]) {
      expect(StreamEvent.parse(event)).toEqual(event);
      expect(LoggedEventType.safeParse(event.event).success).toBe(false);
      const asStored = { id: 1, session_id: "s", run_id: null, created_at: NOW, ...event };
      expect(StoredEvent.safeParse(asStored).success).toBe(false);
      expect(StreamEvent.safeParse({ ...event, id: 1 }).success).toBe(false);
    }
  });
});

describe("event types", () => {
  it("are those of the API", () => {
    expect([...EVENT_TYPES].sort()).toEqual(
      (
        "checkpoint custom delegation done error head_moved interrupt planning reasoning reconnected reset status " +
        "step_complete token tool_call tool_output tool_result usage"
      ).split(" "),
    );
    expect(Object.keys(EVENT_DATA)).toEqual(EVENT_TYPES);
    expect(EventType.safeParse("tokens").success).toBe(false);
  });

  it("are all logged but two", () => {
    expect(EVENT_TYPES.filter((type) => !LoggedEventType.safeParse(type).success)).toEqual(["reconnected", "reset"]);
  });

  it("end with done alone", () => {
    expect(EVENT_TYPES.filter(isTerminalEvent)).toEqual([...TERMINAL_EVENT_TYPES]);
    expect(TERMINAL_EVENT_TYPES).toEqual(["done"]);
    expect(CLOSING_EVENT_TYPES).toEqual(["done", "interrupt"]);
  });
});

describe("ListEvents", () => {
  it("keeps apart no place and the beginning", () => {
    expect(ListEvents.parse({})).toEqual({ limit: 100 });
    expect(ListEvents.parse({ after: "0" })).toEqual({ after: 0, limit: 100 });
  });

  it("takes types as a list or repeated", () => {
    expect(ListEvents.parse({ type: "token,done" }).type).toEqual(["token", "done"]);
    expect(ListEvents.parse({ type: ["token", "done"] }).type).toEqual(["token", "done"]);
  });

  it("refuses an empty place and a type that the log has not", () => {
    expect(refusal(ListEvents, { after: "" }).message).toContain("after must be a whole number");
    expect(refusal(ListEvents, { type: "token,reset" }).message).toContain("type");
  });

  it("answers with events and has_more", () => {
    const page = { events: [stored({ event: "token", documented: { content: "x" } })], has_more: true };
    expect(EventPage.parse(page)).toEqual(page);
  });
});
