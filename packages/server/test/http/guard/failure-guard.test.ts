import { describe, expect, it } from "vitest";
import { createFailureGuard } from "../../../src/http/guard/failure-guard.ts";
import type { Guard } from "../../../src/http/guard.ts";
import { anAdmission, anArrival } from "./an-arrival.ts";

const MINUTE = 60_000;

function open(options: { per_minute?: number; kept?: number } = {}) {
  const clock = { now: 0 };
  const guard = createFailureGuard({ per_minute: 3, ...options, now: () => clock.now });
  return { clock, guard };
}

function arrival(key: string, remote_address = "192.0.2.1") {
  return anArrival({ "x-api-key": key }, { remote_address });
}

/** As the application calls a guard for a credential that nobody knows. */
function fail(guard: Guard, key: string, address?: string): void {
  guard.before?.(arrival(key, address));
  guard.after?.(arrival(key, address), new Response(null, { status: 401 }));
}

function refusal(guard: Guard, key: string, address?: string): unknown {
  try {
    guard.before?.(arrival(key, address));
    return undefined;
  } catch (error) {
    return error;
  }
}

describe("wrong credentials of one address", () => {
  it("are refused past the limit with the seconds to wait, and forgiven one by one", () => {
    const { guard, clock } = open();
    for (const key of ["a", "b", "c"]) fail(guard, key);
    expect(refusal(guard, "d")).toMatchObject({ code: "rate_limited", details: { retry_after_s: 20 } });
    expect(refusal(guard, "d", "192.0.2.2")).toBeUndefined();
    clock.now = MINUTE / 3 - 1;
    expect(refusal(guard, "d")).toMatchObject({ details: { retry_after_s: 1 } });
    clock.now = MINUTE / 3;
    fail(guard, "d");
    expect(refusal(guard, "e")).toMatchObject({ details: { retry_after_s: 20 } });
    clock.now = 10 * MINUTE;
    for (const key of ["a", "b", "c"]) fail(guard, key);
    expect(refusal(guard, "d")).toBeDefined();
  });

  it("do not shut out a credential that was good, until it is not any more", () => {
    const { guard } = open();
    guard.admit?.({ ...anAdmission({}), ...arrival("good"), route: "listSessions" });
    for (const key of ["a", "b", "c"]) fail(guard, key);
    expect(refusal(guard, "good")).toBeUndefined();
    fail(guard, "good");
    expect(refusal(guard, "good")).toBeDefined();
  });

  it("count for the whole network of an IPv6 address, and for an IPv4 address however it is written", () => {
    const { guard } = open();
    for (const end of ["1", "2", "3"]) fail(guard, end, `2001:db8:1:2::${end}`);
    expect(refusal(guard, "d", "2001:db8:1:2:ffff::9")).toBeDefined();
    expect(refusal(guard, "d", "2001:db8:1:3::1")).toBeUndefined();
    for (const key of ["a", "b", "c"]) fail(guard, key, "::ffff:192.0.2.7");
    expect(refusal(guard, "d", "192.0.2.7")).toBeDefined();
  });

  it("are not counted where there is none, nor on what is public", () => {
    const { guard } = open({ per_minute: 1 });
    const unauthorized = new Response(null, { status: 401 });
    guard.after?.(anArrival(), unauthorized);
    guard.after?.(anArrival({ "x-api-key": "a" }, { route: "getHealth" }), unauthorized);
    expect(guard.before?.(arrival("b", "127.0.0.1"))).toBeUndefined();
    fail(guard, "b", "127.0.0.1");
    expect(guard.before?.(anArrival())).toBeUndefined();
    expect(guard.before?.(anArrival({ "x-api-key": "b" }, { route: "getHealth" }))).toBeUndefined();
    expect(refusal(guard, "b", "127.0.0.1")).toBeDefined();
  });

  it("are remembered of so many addresses only, the latest", () => {
    const { guard } = open({ per_minute: 1, kept: 2 });
    for (const end of [1, 2, 3]) fail(guard, "a", `192.0.2.${end}`);
    expect([1, 2, 3].map((end) => refusal(guard, "b", `192.0.2.${end}`) !== undefined)).toEqual([false, true, true]);
  });

  it("of an address that is remembered already forget no other's", () => {
    const { guard } = open({ per_minute: 2, kept: 2 });
    for (const end of [1, 1, 2, 2]) fail(guard, "a", `192.0.2.${end}`);
    expect([1, 2].map((end) => refusal(guard, "b", `192.0.2.${end}`) !== undefined)).toEqual([true, true]);
  });

  it("shut out no good credential that is still used, however many others there are", () => {
    const { guard } = open({ per_minute: 1, kept: 2 });
    for (const key of ["mine", "another", "mine", "a third"]) {
      guard.admit?.({ ...anAdmission({}), ...arrival(key), route: "listSessions" });
    }
    fail(guard, "wrong");
    expect(refusal(guard, "mine")).toBeUndefined();
    expect(refusal(guard, "another")).toBeDefined();
  });
});
