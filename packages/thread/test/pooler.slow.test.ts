import pg from "pg";
import { afterAll, beforeAll, describe, expect, inject, it } from "vitest";
import { createDatabase } from "../../../testing/database.ts";
import { type Pooler, startPgBouncer } from "../../../testing/pgbouncer.ts";
import { openStorage } from "../src/open-storage.ts";
import { openPostgres } from "../src/sql/postgres-database.ts";

const { url, drop } = await createDatabase(inject("postgresUrl"));
afterAll(drop);
const [session, transaction] = [await startPgBouncer(url, "session"), await startPgBouncer(url, "transaction")];

if ("missing" in session || "missing" in transaction) {
  const reason = "missing" in session ? session.missing : "";
  describe("behind PgBouncer", () => {
    it.skip(`not run: ${reason}`);
  });
  process.stderr.write(`The PgBouncer tests are skipped: ${reason}\n`);
} else {
  afterAll(() => Promise.all([session.stop(), transaction.stop()]));
  describe("behind PgBouncer", () => behindPgBouncer(session, transaction));
}

/** A call that has heard nothing for two seconds is asked after. */
const HELD_S = 3;

function behindPgBouncer(session: Pooler, transaction: Pooler): void {
  const direct = new pg.Client({ connectionString: url });
  beforeAll(() => direct.connect());
  afterAll(() => direct.end());

  it("in session mode nodes work together, and a call that waits for a lock is not taken for lost", async () => {
    const [one, other] = [await openStorage(session.url), await openStorage(session.url)];
    try {
      const { id } = await one.createSession({});
      const seen: number[] = [];
      const following = (async () => {
        for await (const event of other.followEvents({ session_id: id, after: 0 }))
          if (seen.push(event.id) === 50) break;
      })();
      const tell = (n: number) => ({ event: "token" as const, data: { content: `${n}` } });
      await Promise.all(Array.from({ length: 49 }, (_, n) => one.appendEvents({ session_id: id, events: [tell(n)] })));
      await direct.query("begin; lock table threads in access exclusive mode");
      const waiting = one.appendEvents({ session_id: id, events: [tell(49)] });
      await direct.query(`select pg_sleep(${HELD_S}); commit`);
      expect(await waiting).toMatchObject([{ id: 50 }]);
      await following;
      expect(seen).toEqual(Array.from({ length: 50 }, (_, n) => n + 1));
    } finally {
      await Promise.all([one.close(), other.close()]);
    }
  });

  it("in session mode each connection has the settings that transactions rely on, whatever the database's are", async () => {
    await direct.query(
      `alter database ${new URL(url).pathname.slice(1)} set default_transaction_isolation = 'serializable'`,
    );
    const db = openPostgres({ url: session.url });
    const names = ["default_transaction_isolation", "idle_in_transaction_session_timeout"];
    try {
      const answers = await db.readAll(
        names.map((name) => ({ sql: "select current_setting($1) as value", params: [name] })),
      );
      expect(answers.map(({ rows }) => rows[0]?.value)).toEqual(["read committed", "2s"]);
    } finally {
      await db.close();
    }
  });

  it("in transaction mode the storage is refused by what it is, before anything is made", async () => {
    await expect(openStorage(transaction.url)).rejects.toMatchObject({
      code: "invalid_config",
      message: expect.stringMatching(/pooler in transaction mode.*session mode/),
    });
  });
}
