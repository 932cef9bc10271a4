import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { createMigratedDatabase } from "../../../thread/test/migrated-database.ts";
import { Scene } from "./scene.ts";
import { emptyModel, type Operation, sequences, step } from "./timeline-model.ts";
import { MUTANTS } from "./timeline-mutants.ts";

async function play(operations: readonly Operation[], open: () => Promise<Scene>): Promise<void> {
  const scene = await open();
  try {
    const model = emptyModel();
    for (const operation of operations) await step(scene, model, operation);
    expect(scene.errors.filter((error) => !String(error).includes("aborted"))).toEqual([]);
  } finally {
    await scene.close();
  }
}

async function openPostgres(): Promise<Scene> {
  const database = await createMigratedDatabase();
  return Scene.open(database.url, database.drop);
}

const SEED = 20_260_715;

describe("any sequence of operations: conversation, files and artifacts are as a simple model says", () => {
  const expectTrue = (numRuns: number, open: () => Promise<Scene>) =>
    fc.assert(
      fc.asyncProperty(sequences(30), (operations) => play(operations, open)),
      { numRuns, seed: SEED, endOnFailure: true },
    );

  it("on postgres", { timeout: 120_000 }, () => expectTrue(1, openPostgres));
  it("on sqlite, and more of them", { timeout: 120_000, tags: "long" }, () => expectTrue(3, () => Scene.open()));
});

describe("a rewind that", () => {
  it.each(Object.entries(MUTANTS))("%s is noticed", { timeout: 60_000 }, async (_, { mutate, operations }) => {
    await play(operations, () => Scene.open());
    await expect(play(operations, () => Scene.open(undefined, undefined, mutate))).rejects.toThrow();
  });
});
