import { expect, it, onTestFinished, vi } from "vitest";
import { startHeartbeat } from "../../src/run/heartbeat.ts";

const LEASE_MS = 600_000; // no beat comes by itself

/** A lease that was asked for so long ago. */
function held(ago_ms: number, whileRenewing: () => void = () => undefined) {
  let renewed = 0;
  const heartbeat = startHeartbeat({
    storage: {
      renewLease: async () => {
        renewed++;
        whileRenewing();
        return "held";
      },
    },
    lease: { run_id: "r", epoch: 1 },
    lease_ms: LEASE_MS,
    since: performance.now() - ago_ms,
    onLost: () => undefined,
    onAbort: () => undefined,
  });
  onTestFinished(heartbeat.stop);
  return { heartbeat, renewed: () => renewed };
}

it("a lease that is about to run out unnoticed is renewed before this node claims anything", async () => {
  const { heartbeat, renewed } = held(LEASE_MS * 0.6);
  await heartbeat.catchUp();
  expect(renewed()).toBe(1);
  expect(heartbeat.catchUp()).toBeUndefined();
});

it("one that was renewed in time costs nothing", () => {
  const { heartbeat, renewed } = held(LEASE_MS * 0.4);
  expect(heartbeat.catchUp()).toBeUndefined();
  expect(renewed()).toBe(0);
});

it("one whose renewal took long holds from when it was asked for, not from the answer", async () => {
  let now = 1_000_000;
  const clock = vi.spyOn(performance, "now").mockImplementation(() => now);
  onTestFinished(() => clock.mockRestore());
  const { heartbeat, renewed } = held(LEASE_MS * 0.6, () => {
    now += LEASE_MS * 0.6;
  });
  await heartbeat.catchUp();
  await heartbeat.catchUp();
  expect(renewed()).toBe(2);
});

it("a renewal that was under way when the process was stopped does not count as one of now", async () => {
  let now = 1_000_000;
  const clock = vi.spyOn(performance, "now").mockImplementation(() => now);
  onTestFinished(() => clock.mockRestore());
  const { heartbeat, renewed } = held(0);
  heartbeat.look();
  now += LEASE_MS * 2;
  await heartbeat.catchUp();
  expect(renewed()).toBe(2);
  expect(heartbeat.catchUp()).toBeUndefined();
});
