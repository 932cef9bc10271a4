import { expect, it } from "vitest";
import { toldCalls } from "../src/told-calls.ts";

type Given = Parameters<typeof toldCalls>[0] extends Iterable<infer E> ? E : never;

const call = (id: string, agent = {}) => ["tool_call", { id, name: "n", args: {}, ...agent }] as const;
const result = (tool_call_id: string, agent = {}) =>
  ["tool_result", { tool_call_id, outcome: "ok", output: "o", exit_code: null, ...agent }] as const;
const resuming = (discard_after: number) => ["status", { status: "resuming", discard_after }] as const;

function told(...events: readonly (readonly [string, object])[]): string[] {
  const numbered = events.map(([event, data], n) => ({ id: n + 1, event, data }) as Given);
  return toldCalls(numbered).map(({ id, agent = "", ended, taken_back, result: given }) =>
    [agent + id, ended && "ended", taken_back && "taken back", given && "result"].filter(Boolean).join(", "),
  );
}

it("a result ends its own call: that of the same agent, and of two with one id the first", () => {
  const helper = { agent: "helper " };
  expect(told(call("a"), call("a", helper), result("a", helper))).toEqual(["a", "helper a, ended, result"]);
  expect(told(call("a"), call("a"), result("a"))).toEqual(["a, ended, result", "a"]);
  expect(told(result("a"))).toEqual([]);
});

it("what a new attempt declares void is taken back, its result too, until it is told again", () => {
  expect(told(call("a"), result("a"), resuming(0))).toEqual(["a, taken back, result"]);
  expect(told(call("a"), resuming(0), call("a"))).toEqual(["a"]);
  expect(told(call("a"), resuming(0), call("a"), result("a"))).toEqual(["a, ended, result"]);
  expect(told(call("a"), result("a"), resuming(0), resuming(0))).toEqual(["a, taken back, result"]);
});

it("what stands stays; a call whose result alone is void is told again with it", () => {
  expect(told(call("a"), result("a"), resuming(2))).toEqual(["a, ended, result"]);
  expect(told(call("a"), resuming(1), resuming(1))).toEqual(["a"]);
  expect(told(call("a"), resuming(1), result("a"), resuming(1))).toEqual(["a, taken back, result"]);
  expect(told(call("a"), result("a"), resuming(2), call("a"))).toEqual(["a, ended, result", "a"]);
});
