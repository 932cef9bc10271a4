import { describe, expect, test } from "vitest";
import { artifactContract } from "../src/conformance/artifact-contract.ts";
import { snapshotContract } from "../src/conformance/snapshot-contract.ts";
import { storeContract } from "../src/conformance/store-contract.ts";
import { openSqliteFile } from "./engines.ts";
import { collectStatements, planner } from "./prepared-statements.ts";

const statements = collectStatements();

describe("what is asked of contents", () => {
  artifactContract(openSqliteFile);
  snapshotContract(openSqliteFile);
  storeContract(openSqliteFile);
});

function plansOf(asked: RegExp): string[] {
  const queries = [...statements].map((sql) => sql.replaceAll(/\s+/g, " ")).filter((sql) => asked.test(sql));
  expect(queries.length).toBeGreaterThan(0);
  return queries.flatMap(planner());
}

test("lists artifacts and their versions without a way through their contents", () => {
  const plans = plansOf(/^select (?!.*"content").* "artifact_versions" as "v"/).filter((plan) => / v /.test(plan));
  expect(plans.length).toBeGreaterThan(1);
  for (const plan of plans) expect(plan).toContain("COVERING INDEX artifact_versions_without_content");
});

test("finds the files that are past their time, and packs of none, without a way through their contents", () => {
  const plans = plansOf(/^(select .*created_ms <=|delete from snapshot_packs .*not in)/);
  const ofPacks = plans.filter((plan) => / (p|snapshot_packs) /.test(plan));
  expect(ofPacks.length).toBeGreaterThan(1);
  for (const plan of ofPacks) expect(plan).toMatch(/INDEX snapshot_packs_by_age \(scope=\?/);
});

test("finds what is below a namespace of the memory by its range, not in all of the scope", () => {
  for (const plan of plansOf(/^select .* from "store_items" .* namespace (between|>=)/))
    expect(plan).toMatch(/scope=\? AND namespace>\? AND namespace<\?/);
});

test("finds the items that are past their time among those that have one", () => {
  for (const plan of plansOf(/^(select|delete) .*from store_items where (scope = \? and )?expires_at <=/))
    expect(plan).toMatch(/INDEX store_items_by_expiry|SCALAR SUBQUERY|SCAN CONSTANT ROW/);
});
