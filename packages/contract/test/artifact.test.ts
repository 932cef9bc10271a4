import { describe, expect, it } from "vitest";
import {
  CreateArtifact,
  DEFAULT_MAX_ARTIFACT_BYTES,
  DiffArtifact,
  ListArtifacts,
  UpdateArtifact,
} from "../src/index.ts";
import { refusal } from "./refusal.ts";

const base = { name: "plan.md", content: "text", session_id: "s" };

describe("CreateArtifact", () => {
  it("fills defaults", () => {
    expect(CreateArtifact.parse(base)).toEqual({
      ...base,
      artifact_type: "artifact",
      visibility: "private",
      encoding: "text",
      path: null,
      reason: null,
      run_id: null,
    });
  });

  it.each([
    ["a private one of no session", { name: "a", content: "" }, "needs session_id"],
    ["one of a run without the run", { ...base, visibility: "run" }, "needs run_id"],
    ["another type", { ...base, artifact_type: "note" }, "artifact_type"],
    ["what is not base64", { ...base, content: "§", encoding: "base64" }, "content is not base64"],
    ["unknown fields", { ...base, version: 3 }, "version"],
  ])("refuses %s", (_, body, message) => {
    expect(refusal(CreateArtifact, body).message).toContain(message);
  });

  it("lets a public one belong to no session", () => {
    expect(CreateArtifact.parse({ name: "a", content: "", visibility: "public" }).session_id).toBeNull();
  });

  it("counts the bytes that base64 stands for", () => {
    const content = Buffer.alloc(DEFAULT_MAX_ARTIFACT_BYTES).toString("base64");
    expect(CreateArtifact.parse({ ...base, content, encoding: "base64" }).content.length).toBe(content.length);
    const more = Buffer.alloc(DEFAULT_MAX_ARTIFACT_BYTES + 1).toString("base64");
    const error = refusal(CreateArtifact, { ...base, content: more, encoding: "base64" });
    expect(error.code).toBe("content_too_large");
  });

  it("names the limit that text passes", () => {
    const error = refusal(CreateArtifact, { ...base, content: "x".repeat(DEFAULT_MAX_ARTIFACT_BYTES + 1) });
    expect(error.code).toBe("content_too_large");
    expect(error.message).toContain(`limit of ${DEFAULT_MAX_ARTIFACT_BYTES} bytes`);
  });
});

describe("other requests about artifacts", () => {
  it("leave out what was not given", () => {
    expect(UpdateArtifact.parse({ content: "x" })).toEqual({ content: "x", encoding: "text" });
    expect(ListArtifacts.parse({ session_id: "s" })).toEqual({ session_id: "s", limit: 50, offset: 0 });
  });

  it("take version numbers from a query", () => {
    expect(DiffArtifact.parse({ from: "1", to: "2" })).toEqual({ from: 1, to: 2 });
    expect(refusal(DiffArtifact, { from: "0", to: "2" }).message).toContain("version must be a whole number from 1");
    expect(refusal(DiffArtifact, { from: "1" }).message).toContain("to");
  });
});
