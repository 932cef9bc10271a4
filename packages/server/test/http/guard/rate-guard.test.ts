import { openStorage } from "@cognition/thread";
import { describe, expect, it } from "vitest";
import { createRateGuard } from "../../../src/http/guard/rate-guard.ts";
import { createMemoryRateLimiter, createSharedRateLimiter } from "../../../src/http/guard/rate-limiter.ts";
import { anAdmission } from "./an-arrival.ts";

describe("a rate limit", () => {
  it("allows a burst, then the rate, each scope for itself", async () => {
    let now = 0;
    const limiter = createMemoryRateLimiter({ per_second: 10, burst: 3 }, () => now);
    const ann = () => limiter.take({ user: "ann" });
    for (let n = 0; n < 3; n++) expect(await ann()).toEqual({ allowed: true });
    for (let n = 0; n < 3; n++) expect(await ann()).toEqual({ allowed: false, retry_after_ms: 100 });
    expect(await limiter.take({ user: "bob" })).toEqual({ allowed: true });
    expect(await limiter.take(undefined)).toEqual({ allowed: true });
    now = 99;
    expect(await ann()).toEqual({ allowed: false, retry_after_ms: 1 });
    now = 100;
    expect(await ann()).toEqual({ allowed: true });
    expect(await ann()).toMatchObject({ allowed: false });
    now = 1_000_000;
    for (let n = 0; n < 3; n++) expect(await ann()).toEqual({ allowed: true });
    expect(await ann()).toMatchObject({ allowed: false });
  });

  it("the order of a scope's keys makes no other scope of it", async () => {
    const limiter = createMemoryRateLimiter({ per_second: 1, burst: 1 }, () => 0);
    expect(await limiter.take({ a: "1", b: "2" })).toEqual({ allowed: true });
    expect(await limiter.take({ b: "2", a: "1" })).toMatchObject({ allowed: false });
  });

  it("a rate that is not a whole number of milliseconds is kept all the same", async () => {
    let now = 0;
    const limiter = createMemoryRateLimiter({ per_second: 300, burst: 1 }, () => now);
    let allowed = 0;
    for (; now < 10_000; now += 0.5) if ((await limiter.take({})).allowed) allowed++;
    expect(allowed).toBeGreaterThan(2_800);
    expect(allowed).toBeLessThanOrEqual(3_000);
  });

  it("is told as rate_limited with the seconds to wait, whole and never 0; probes are not counted", async () => {
    const guard = createRateGuard(createMemoryRateLimiter({ per_second: 0.5, burst: 1 }, () => 0));
    await guard.admit?.(anAdmission({}));
    const refused = async () => guard.admit?.(anAdmission({}));
    await expect(refused()).rejects.toMatchObject({ code: "rate_limited", details: { retry_after_s: 2 } });
    for (const route of ["getHealth", "getReadiness", "getMetrics"] as const) {
      expect(await guard.admit?.(anAdmission(undefined, { route }))).toBeUndefined();
    }
  });

  it("can be shared through the storage", async () => {
    const storage = await openStorage("memory");
    const limit = { per_second: 0.01, burst: 2 };
    const nodes = [1, 2].map(() => createSharedRateLimiter(limit, storage.rateLimits));
    const answers = await Promise.all([0, 1, 0, 1].map(async (n) => nodes[n]?.take({ user: "ann" })));
    expect(answers.filter((answer) => answer?.allowed)).toHaveLength(2);
    await storage.close();
  });
});
