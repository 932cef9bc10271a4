import { describe, expect, it } from "vitest";
import { ForkSession, ListCheckpoints, RewindSession } from "../src/index.ts";
import { refusal } from "./refusal.ts";

describe("ForkSession", () => {
  it("fills defaults", () => {
    expect(ForkSession.parse({})).toEqual({ files: true });
  });

  it("names one place at most", () => {
    expect(refusal(ForkSession, { checkpoint_id: "c", message_id: "m" }).message).toContain("not both");
  });
});

describe("RewindSession", () => {
  it("fills defaults", () => {
    expect(RewindSession.parse({ last: "turn" })).toEqual({
      last: "turn",
      restore: ["conversation", "files"],
      force: false,
      dry_run: false,
    });
  });

  it.each([{}, { checkpoint_id: "c", last: "tool" }, { checkpoint_id: "c", message_id: "m" }])(
    "names exactly one place, unlike %j",
    (body) => {
      expect(refusal(RewindSession, body).message).toContain("exactly one of");
    },
  );

  it("refuses another place and another part", () => {
    expect(refusal(RewindSession, { last: "step" }).message).toContain("last");
    expect(refusal(RewindSession, { last: "tool", restore: ["everything"] }).message).toContain("restore.0");
    expect(refusal(RewindSession, { last: "tool", restore: [] }).message).toContain("restore");
  });
});

describe("ListCheckpoints", () => {
  it("fills defaults", () => {
    expect(ListCheckpoints.parse({ before: "c" })).toEqual({ limit: 50, before: "c" });
  });
});
