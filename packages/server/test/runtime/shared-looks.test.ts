import { expect, it } from "vitest";
import { createSharedLooks } from "../../src/runtime/shared-looks.ts";

it("shares a look among those who ask before it begins, never with those who come after", async () => {
  const shared = createSharedLooks();
  const gates: (() => void)[] = [];
  let truth = 0;
  const look = async () => {
    const seen = truth;
    await new Promise<void>((resolve) => gates.push(resolve));
    return seen;
  };
  const first = shared("a", look);
  truth = 1;
  const late = [shared("a", look), shared("a", look)];
  gates[0]?.();
  expect(await first).toBe(0);
  await expect.poll(() => gates.length).toBe(2);
  gates[1]?.();
  expect(await Promise.all(late)).toEqual([1, 1]);
});

it("tells a failure to those who asked, and looks again for the next", async () => {
  const shared = createSharedLooks();
  const failing = shared("a", () => Promise.reject(new Error("away")));
  const next = shared("a", async () => "there");
  await expect(failing).rejects.toThrow("away");
  expect(await next).toBe("there");
});
