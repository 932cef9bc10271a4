import { expect, it } from "vitest";
import { nextTurn } from "../src/sql/next-turn.ts";

it("those who wait for the next turn go on step by step, side by side", async () => {
  const steps: string[] = [];
  async function walk(name: string): Promise<void> {
    await nextTurn();
    for (let step = 1; step <= 3; step++) {
      steps.push(`${name}${step}`);
      await undefined;
    }
  }
  await Promise.all([walk("a"), walk("b")]);
  expect(steps).toEqual(["a1", "b1", "a2", "b2", "a3", "b3"]);
});

it("who comes in a later turn waits for the one after it", async () => {
  await nextTurn();
  let turned = false;
  const next = nextTurn().then(() => {
    turned = true;
  });
  await undefined;
  expect(turned).toBe(false);
  await next;
  expect(turned).toBe(true);
});
