import { describe, expect, it } from "vitest";
import {
  AbortSession,
  CreateSession,
  ListSessions,
  MAX_METADATA_ENTRIES,
  MAX_METADATA_KEY_LENGTH,
  MAX_METADATA_VALUE_LENGTH,
  MAX_NAME_LENGTH,
  MAX_TITLE_LENGTH,
  Session,
  UpdateSession,
} from "../src/index.ts";
import { refusal } from "./refusal.ts";

const now = "2026-03-21T12:34:56.789Z";
const session: Session = {
  id: "0195b7a0-1111-7abc-8def-0123456789ab",
  thread_id: "0195b7a0-2222-7abc-8def-0123456789ab",
  title: "Investigation #99",
  status: "active",
  agent_name: "default",
  config: { model: "gpt-4o-mini", temperature: 0.2 },
  scopes: { user: "alice", project: "breachlens" },
  metadata: { repository: "myorg/myrepo" },
  mode: "auto",
  message_count: 0,
  workspace_path: "/srv/w",
  storage_bytes: 0,
  active_run_id: null,
  parent: null,
  created_at: now,
  updated_at: now,
};

describe("Session", () => {
  it("parses to itself", () => {
    expect(Session.parse(session)).toEqual(session);
  });

  it.each([
    ["a field more", { ...session, extra: 1 }],
    ["an id that is no uuid", { ...session, id: "sess_abc123" }],
    ["another status", { ...session, status: "idle" }],
    ["a time without milliseconds", { ...session, created_at: "2026-03-21T12:34:56Z" }],
    ["a time with an offset", { ...session, created_at: "2026-03-21T12:34:56.789+01:00" }],
  ])("refuses %s", (_, value) => {
    expect(Session.safeParse(value).success).toBe(false);
  });

  it("stays readable when limits are lowered", () => {
    const old = { ...session, title: "x".repeat(MAX_TITLE_LENGTH + 1), metadata: { k: "v".repeat(100_000) } };
    expect(Session.parse(old)).toEqual(old);
  });
});

describe("CreateSession", () => {
  it("fills defaults", () => {
    expect(CreateSession.parse({})).toEqual({
      title: null,
      agent_name: "default",
      metadata: {},
      config: {},
      mode: "auto",
    });
  });

  it("gives each caller a default object of its own", () => {
    const first = CreateSession.parse({});
    first.metadata["a"] = "1";
    expect(CreateSession.parse({}).metadata).toEqual({});
  });

  it("takes the examples of the guide", () => {
    const metadata = { workflow_id: "pr-review", repository: "myorg/myrepo", pr_number: "42" };
    expect(CreateSession.parse({ title: "PR review session", metadata }).metadata).toEqual(metadata);
    expect(CreateSession.parse({ title: "Code Review", agent_name: "readonly" }).agent_name).toBe("readonly");
    expect(CreateSession.parse({ idempotency_key: "k" }).idempotency_key).toBe("k");
  });

  it.each([
    ["unknown fields", { tilte: "x" }, "tilte"],
    ["unknown config fields", { config: { modle: "x" } }, "modle"],
    ["a title beyond its limit", { title: "x".repeat(MAX_TITLE_LENGTH + 1) }, `title is longer than the limit of 500`],
    ["a long agent name", { agent_name: "x".repeat(MAX_NAME_LENGTH + 1) }, "agent_name is longer than the limit of 64"],
    ["an empty agent name", { agent_name: "" }, "agent_name must not be empty"],
    ["U+0000", { title: "a\u0000b" }, "title must not contain U+0000"],
    ["an unpaired surrogate", { title: "a\ud800" }, "unpaired surrogates"],
    ["a hot temperature", { config: { temperature: 3 } }, "temperature must be from 0 to 2"],
    ["another mode", { mode: "yolo" }, "mode"],
    ["no object", [], "object"],
  ])("refuses %s", (_, body, message) => {
    const error = refusal(CreateSession, body);
    expect(error.code).toBe("validation_failed");
    expect(error.message).toContain(message);
  });

  it("accepts a title at its limit, of any script", () => {
    const title = "ü漢".repeat(MAX_TITLE_LENGTH / 2);
    expect(CreateSession.parse({ title }).title).toBe(title);
  });
});

describe("metadata", () => {
  const entries = (count: number) => Object.fromEntries(Array.from({ length: count }, (_, i) => [`k${i}`, "v"]));

  it.each([
    ["too many entries", entries(MAX_METADATA_ENTRIES + 1), "more than the limit of 64 entries"],
    ["a long key", { ["k".repeat(MAX_METADATA_KEY_LENGTH + 1)]: "v" }, "metadata"],
    [
      "a long value",
      { k: "v".repeat(MAX_METADATA_VALUE_LENGTH + 1) },
      "metadata value is longer than the limit of 2048",
    ],
    ["an empty key", { "": "v" }, "metadata"],
    ["a number", { k: 42 }, "metadata value must be a string"],
    ["nesting", { k: { a: "b" } }, "metadata value must be a string"],
    ["a key that records drop", JSON.parse('{"__proto__": "x"}'), "__proto__"],
  ])("refuses %s", (_, metadata, message) => {
    expect(refusal(CreateSession, { metadata }).message).toContain(message);
  });

  it("names the limit on keys", () => {
    const metadata = { ["k".repeat(MAX_METADATA_KEY_LENGTH + 1)]: "v" };
    expect(refusal(CreateSession, { metadata }).message).toContain("metadata key is longer than the limit of 128");
  });

  it("takes as many entries as the limit says, with odd keys", () => {
    const metadata = { ...entries(MAX_METADATA_ENTRIES - 3), "a.b.c": "1", "ключ 漢 %_\\": "", constructor: "x" };
    expect(CreateSession.parse({ metadata }).metadata).toEqual(metadata);
  });
});

describe("ListSessions", () => {
  it("fills defaults", () => {
    expect(ListSessions.parse({})).toEqual({ limit: 50, offset: 0 });
  });

  it("gathers metadata predicates, keys with dots included", () => {
    const query = { "metadata.repository": "myorg/myrepo", "metadata.a.b": "1", status: "active", limit: "5" };
    expect(ListSessions.parse(query)).toEqual({
      metadata: { repository: "myorg/myrepo", "a.b": "1" },
      status: "active",
      limit: 5,
      offset: 0,
    });
  });

  it("takes all behind the first dot for the key", () => {
    const query = { "metadata.x y": "", "metadata.metadata.k": "2" };
    expect(ListSessions.parse(query).metadata).toEqual({ "x y": "", "metadata.k": "2" });
  });

  it.each([
    ["an unknown parameter", { stauts: "active" }, "stauts"],
    ["an unknown status", { status: "idle" }, "status"],
    ["two values for one key", { "metadata.a": ["1", "2"] }, "metadata value must be a string"],
    ["a key that records drop", { "metadata.__proto__": "1" }, "__proto__"],
  ])("refuses %s", (_, query, message) => {
    expect(refusal(ListSessions, query).message).toContain(message);
  });
});

describe("UpdateSession and AbortSession", () => {
  it("add nothing that was not given", () => {
    expect(UpdateSession.parse({})).toEqual({});
    expect(AbortSession.parse({})).toEqual({});
  });

  it("lets null take a config override away", () => {
    const patch = { config: { model: null, temperature: 0.1 }, title: null };
    expect(UpdateSession.parse(patch)).toEqual(patch);
  });

  it("refuses a status that only runs can set", () => {
    expect(refusal(UpdateSession, { status: "waiting_for_approval" }).message).toContain("status");
  });
});
