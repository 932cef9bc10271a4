import { describe, expect, test } from "vitest";
import { type CallOutcome, createCircuitBreaker } from "../../src/breaker/circuit-breaker.ts";

function breaker() {
  let time = 0;
  const made = createCircuitBreaker({ name: "p", now: () => time, explain: (failures, when) => `${failures} ${when}` });
  const call = (outcome: CallOutcome) => made.acquire()(outcome);
  return {
    ...made,
    call,
    times: (n: number, outcome: CallOutcome) => Array.from({ length: n }, () => call(outcome)),
    pass: (ms: number) => (time += ms),
  };
}

const open = expect.objectContaining({ code: "circuit_open" });

describe("the circuit breaker", () => {
  test("opens at five failures in a row, not at five in all", () => {
    const b = breaker();
    b.times(4, "failure");
    b.call("success");
    b.times(4, "failure");
    expect(b.state()).toEqual({ state: "closed", total_calls: 9, failed_calls: 8, consecutive_failures: 4 });
    b.call("failure");
    expect(b.state()).toMatchObject({ state: "open", consecutive_failures: 5 });
    expect(() => b.acquire()).toThrow(open);
    // A refused call is none.
    expect(b.state().total_calls).toBe(10);
  });

  test("tells what opened it, whatever comes of calls from before", () => {
    const b = breaker();
    const late = [b.acquire(), b.acquire()];
    b.times(5, "failure");
    late[0]?.("success");
    expect(b.state()).toMatchObject({ state: "open", consecutive_failures: 5 });
    expect(() => b.acquire()).toThrow("5 in 60 s");
    b.pass(60_000);
    b.times(3, "success");
    late[1]?.("failure");
    expect(b.state()).toMatchObject({ state: "closed", failed_calls: 6, consecutive_failures: 0 });
  });

  test("counts the first report of a call alone", () => {
    const b = breaker();
    b.times(5, "failure");
    b.pass(60_000);
    const [one, ...others] = [b.acquire(), b.acquire(), b.acquire()];
    one?.("success");
    one?.("ignored");
    b.acquire();
    expect(() => b.acquire()).toThrow(open);
    others.forEach((settle) => void settle("success"));
    expect(b.state()).toMatchObject({ state: "closed", failed_calls: 5 });
  });

  test("is opened and let go by what others found out, and is not by what they say of one that is closed", () => {
    const b = breaker();
    b.closedElsewhere();
    b.times(4, "failure");
    expect(b.state()).toMatchObject({ state: "closed", consecutive_failures: 4 });
    b.openedElsewhere(5_000, 7);
    expect(() => b.acquire()).toThrow("7 in 5 s");
    b.closedElsewhere();
    expect(b.state()).toMatchObject({ state: "half_open", consecutive_failures: 7 });
    b.times(3, "success");
    expect(b.state().state).toBe("closed");
  });

  test("ignores what says nothing about the provider", () => {
    const b = breaker();
    b.times(4, "failure");
    b.times(20, "ignored");
    expect(b.state()).toMatchObject({ state: "closed", consecutive_failures: 4 });
  });

  test("lets three trial calls through after a minute and closes at three successes", () => {
    const b = breaker();
    b.times(5, "failure");
    b.pass(59_999);
    expect(() => b.acquire()).toThrow(open);
    b.pass(1);
    expect(b.state().state).toBe("half_open");
    const trials = [b.acquire(), b.acquire(), b.acquire()];
    expect(() => b.acquire()).toThrow(open);
    trials[0]?.("success");
    trials[1]?.("success");
    expect(b.state().state).toBe("half_open");
    trials[2]?.("success");
    expect(b.state()).toMatchObject({ state: "closed", consecutive_failures: 0 });
  });

  test("opens again at one failure of a trial, for another minute", () => {
    const b = breaker();
    b.times(5, "failure");
    b.pass(60_000);
    b.times(2, "success");
    b.call("failure");
    expect(b.state().state).toBe("open");
    b.pass(59_999);
    expect(() => b.acquire()).toThrow(open);
    b.pass(1);
    b.times(3, "success");
    expect(b.state().state).toBe("closed");
  });

  test("gives a trial's place back when the trial says nothing", () => {
    const b = breaker();
    b.times(5, "failure");
    b.pass(60_000);
    b.times(7, "ignored");
    b.times(3, "success");
    expect(b.state().state).toBe("closed");
  });

  test("does not count a call from before as a trial", () => {
    const b = breaker();
    const late = b.acquire();
    b.times(5, "failure");
    b.pass(60_000);
    const trial = b.acquire();
    late("failure");
    expect(b.state().state).toBe("half_open");
    trial("success");
    b.times(2, "success");
    expect(b.state().state).toBe("closed");
  });
});
