import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { contextText } from "../src/task/context-text.ts";
import { estimateTokens } from "../src/task/token-estimate.ts";

const profile = {
  user_id: "alice",
  preferences: { theme: "dark", tabs: 2 },
  goals: ["ship", "rest"],
  expertise_areas: ["sql"],
  communication_style: "terse",
  projects: { cognition: "a runtime" },
  created_at: "2024-01-01T00:00:00.000Z",
  last_updated: "2024-01-01T00:00:00.000Z",
};
const workspace = {
  objective: "find the bug",
  assessment: "",
  approach: "bisect",
  observations: ["it fails\non Mondays"],
  insights: ["old insight", "new insight"],
  facts: { port: 8080 },
  thoughts: [{ thinking: "hm", tool_calls: [], timestamp: "2024-01-01T00:00:00.000Z" }],
};
const empty = { ...profile, preferences: {}, goals: [], expertise_areas: [], communication_style: "", projects: {} };

describe("context text", () => {
  it("has everything, one line each, while there is room", () => {
    expect(contextText({ profile, workspace })).toBe(`About the user:
Style: terse
Preference: theme = dark
Preference: tabs = 2
Goal: ship
Goal: rest
Expertise: sql
Project: cognition = a runtime

About the task:
Objective: find the bug
Approach: bisect
Fact: port = 8080
Insight: old insight
Insight: new insight
Observation: it fails on Mondays
Thought: hm`);
  });

  it("is empty when there is nothing to say, or no room to say it", () => {
    expect(contextText({ profile: empty })).toBe("");
    expect(contextText({ profile, workspace }, { max_tokens: 0 })).toBe("");
  });

  it("keeps what matters most: the objective first, of a list the newest", () => {
    expect(contextText({ profile, workspace }, { max_tokens: 11 })).toBe("About the task:\nObjective: find the bug");
    const small = contextText({ profile: empty, workspace }, { max_tokens: 26 });
    expect(small).toContain("new insight");
    expect(small).not.toContain("old insight");
  });

  it("cuts a line that is too long for the room left", () => {
    const text = contextText(
      { profile: empty, workspace: { ...workspace, objective: "x".repeat(10_000) } },
      { max_tokens: 50 },
    );
    expect(text).toMatch(/^About the task:\nObjective: x+…$/);
    expect(estimateTokens(text)).toBe(50);
  });

  it("never counts more than the budget, whatever the text and whoever counts", () => {
    const texts = fc.array(fc.string({ unit: "binary", maxLength: 200 }), { maxLength: 10 });
    const wordy = (text: string) => text.split(/\s/).length * 3;
    fc.assert(
      fc.property(
        texts,
        fc.string({ unit: "grapheme", maxLength: 300 }),
        fc.nat(200),
        (list, objective, max_tokens) => {
          const parts = {
            profile: { ...profile, goals: list },
            workspace: { ...workspace, objective, insights: list },
          };
          for (const estimate of [estimateTokens, wordy, (text: string) => text.length]) {
            const text = contextText(parts, { max_tokens, estimate });
            if (text !== "") expect(estimate(text)).toBeLessThanOrEqual(max_tokens);
          }
        },
      ),
      { numRuns: 100 },
    );
  });
});

describe("the estimate", () => {
  it.each([
    ["", 0],
    ["word", 1],
    ["five5", 2],
    ["漢字", 3],
    ["👋", 2],
    ["éé", 2],
  ])("of %j is %i", (text, tokens) => {
    expect(estimateTokens(text)).toBe(tokens);
  });
});
