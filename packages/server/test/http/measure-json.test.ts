import { describe, expect, it } from "vitest";
import { findExcess } from "../../src/http/measure-json.ts";
import { problemOf } from "./problem-of.ts";
import { startTestServer } from "./test-server.ts";

const MIB = 1024 * 1024;
const excessOf = (text: string, maxBytes = MIB) => findExcess(Buffer.from(text), maxBytes);
const nested = (depth: number) => "[".repeat(depth) + "]".repeat(depth);

describe("a body", () => {
  it("may be so deep and so wide, whatever stands in its texts", () => {
    const max = MIB / 64;
    const values = (count: number) => `[${Array(count - 1).fill(0)}]`;
    expect(excessOf(nested(1_000))).toBeUndefined();
    expect(excessOf(nested(1_001))).toEqual({ limit: "body_depth", max: 1_000 });
    expect(excessOf("[".repeat(5_000))).toEqual({ limit: "body_depth", max: 1_000 });
    expect(excessOf(`[${"[],".repeat(5_000)}0]`)).toBeUndefined();
    expect(excessOf(values(max))).toBeUndefined();
    expect(excessOf(values(max + 1))).toEqual({ limit: "body_values", max });
    expect(excessOf(values(max + 1), 2 * MIB)).toBeUndefined();
    const text = JSON.stringify(`${"[{".repeat(5_000)}${'",\\\\"'.repeat(max)}`);
    expect(excessOf(`{"a":${text}}`)).toBeUndefined();
    expect(excessOf(`"${"[".repeat(5_000)}`)).toBeUndefined();
    expect(excessOf(`"\\"${"[".repeat(5_000)}`)).toBeUndefined();
  });

  it("of too many values, or too deep, is refused by its limit before it is parsed", async () => {
    const { ask } = await startTestServer();
    const send = (body: string) => problemOf(ask("/sessions", { method: "POST", body }));
    const wide = `{"metadata":{${Array.from({ length: 300_000 }, (_, index) => `"k${index}":1`)}}}`;
    expect(await send(wide)).toMatchObject({ status: 413, details: { limit: "body_values", max: 262_144 } });
    expect(await send(nested(1_000_000))).toMatchObject({ status: 413, details: { limit: "body_depth", max: 1_000 } });
  });

  it("that is wrong in very many places is told of the first of them, in an answer smaller than itself", async () => {
    const { ask } = await startTestServer();
    const entries = Array.from({ length: 50_000 }, (_, index) => `"k${index}":1`);
    const bodies = [
      ["/sessions", "POST", `{"metadata":{${entries}}}`],
      ["/agents", "POST", `{"name":"a","interrupt_on":{${entries}}}`],
      ["/profiles/ann", "PUT", `{"projects":{${entries}}}`],
      ["/budgets", "PUT", `{"budgets":[${Array(50_000).fill("{}")}]}`],
      ["/profiles/ann", "PUT", `{"goals":[${Array(50_000).fill("1")}]}`],
    ] as const;
    for (const [path, method, body] of bodies) {
      const answer = await ask(path, { method, body });
      expect([path, answer.status]).toEqual([path, 422]);
      expect((await answer.text()).length).toBeLessThan(50_000);
    }
  });
});
