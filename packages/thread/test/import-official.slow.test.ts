import { execFile } from "node:child_process";
import { join } from "node:path";
import { promisify } from "node:util";
import { beforeAll, expect, inject, it } from "vitest";
import { createDatabase } from "../../../testing/database.ts";
import { createTempDir } from "../../../testing/temp-dir.ts";
import { installOfficial } from "../bench/official-packages.ts";

const CHILD = join(import.meta.dirname, "children/import-official.ts");
const args = ["--conditions=cognition-source", "--disable-warning=ExperimentalWarning", CHILD];

beforeAll(() => installOfficial((line) => process.stdout.write(`${line}\n`)), 600_000);

async function importFrom(engine: string, place: string, target: string) {
  const { stdout } = await promisify(execFile)(process.execPath, [...args, engine, place, target]);
  return JSON.parse(stdout);
}

function expectSame(result: Awaited<ReturnType<typeof importFrom>>): void {
  expect(result.report.thread_ids.sort()).toEqual(["done", "waiting"]);
  for (const { there, here } of result.histories) {
    expect(there.length).toBeGreaterThan(2);
    expect(here).toEqual(there);
  }
  expect(result.messages).toEqual(["wait", "hello 1", "done answered 7"]);
  expect(result.rows).toEqual([
    ["user", "wait"],
    ["assistant", "hello 1"],
    ["assistant", "done answered 7"],
  ]);
}

it("threads of the official SQLite saver go on here", async () => {
  const dir = createTempDir();
  try {
    expectSame(await importFrom("sqlite", join(dir.path, "theirs.db"), `sqlite://${join(dir.path, "ours.db")}`));
  } finally {
    dir.remove();
  }
});

it("threads of the official PostgreSQL saver go on here", async () => {
  const [theirs, ours] = await Promise.all([
    createDatabase(inject("postgresUrl")),
    createDatabase(inject("postgresUrl")),
  ]);
  try {
    expectSame(await importFrom("postgres", theirs.url, ours.url));
  } finally {
    await Promise.all([theirs.drop(), ours.drop()]);
  }
});
