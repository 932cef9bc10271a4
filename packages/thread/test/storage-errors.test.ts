import { DatabaseSync } from "node:sqlite";
import { expect, it } from "vitest";
import { storageError } from "../src/sql/errors.ts";

it("a number that SQLite can't give back is the value's fault: the storage is there, and asking again would not help", () => {
  using database = new DatabaseSync(":memory:");
  const read = () => database.prepare("select 9000000000000000000 as n").get();
  let thrown: unknown;
  try {
    read();
  } catch (error) {
    thrown = error;
  }
  expect(thrown).toMatchObject({ code: "ERR_OUT_OF_RANGE" });
  expect(storageError(thrown, "The file")).toMatchObject({ code: "validation_failed" });
});
