import { expect, test } from "vitest";
import { definitionContract } from "../src/conformance/definition-contract.ts";
import { openStorage } from "../src/open-storage.ts";
import { databases } from "./databases.ts";
import { onEveryEngine } from "./engines.ts";

onEveryEngine("definitions", definitionContract);

test.each(databases)("a revision is stored once, however many scopes use it, on $name", async ({ create }) => {
  const database = await create();
  const storage = await openStorage(database.uri);
  const db = database.open();
  try {
    for (const user of ["ann", "bob", "cat"]) {
      for (const revision of ["r1", "r2"])
        await storage.revisions.saveRevision({ revision, scope: { user }, agent: { revision } });
    }
    expect(await storage.revisions.findRevision("r2")).toEqual({ revision: "r2" });
    const stored = db.q.selectFrom("agent_revisions").select(["revision", "scope"]).orderBy("revision");
    expect((await db.read(stored)).map(({ revision }) => revision)).toEqual(["r1", "r2"]);
  } finally {
    await Promise.all([storage.close(), db.close()]);
    await database.remove();
  }
});
