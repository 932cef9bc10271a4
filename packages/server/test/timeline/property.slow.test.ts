import fc from "fast-check";
import { expect, inject, it } from "vitest";
import { createDatabase } from "../../../../testing/database.ts";
import { Scene } from "./scene.ts";
import { emptyModel, sequences, step } from "./timeline-model.ts";

const SEQUENCES = inject("short") ? 20 : 500;

async function openPostgres(): Promise<Scene> {
  const database = await createDatabase(inject("postgresUrl"));
  return Scene.open(database.url, database.drop);
}

it.each([
  { name: "sqlite", open: () => Scene.open() },
  { name: "postgres", open: openPostgres },
])(`${SEQUENCES} random sequences on $name come out as the model says`, { timeout: 7_200_000 }, async ({ open }) => {
  const property = fc.asyncProperty(sequences(30), async (operations) => {
    const scene = await open();
    try {
      const model = emptyModel();
      for (const operation of operations) await step(scene, model, operation);
      expect(scene.errors.filter((error) => !String(error).includes("aborted"))).toEqual([]);
    } finally {
      await scene.close();
    }
  });
  await fc.assert(property, { numRuns: SEQUENCES, endOnFailure: true });
});
