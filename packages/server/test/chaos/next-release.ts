import { migrate } from "../../../thread/src/sql/migrate.ts";
import { migrations } from "../../../thread/src/sql/migrations/list.ts";
import { openPostgres } from "../../../thread/src/sql/postgres-database.ts";

const latest = migrations.at(-1)?.version ?? 0;

/** What the release after this one might add. It only expands, so that nodes of this release go on beside it. */
const expansion = {
  version: latest + 1,
  name: "of-the-next-release",
  oldestProgram: latest,
  up: () => [
    "alter table runs add column of_the_next_release text default 'expanded'",
    "alter table events add column of_the_next_release text",
    "create table of_the_next_release (id bigint primary key, value text not null)",
  ],
};

/** As a node of the next release does when it starts. */
export async function migrateToNext(url: string): Promise<void> {
  const db = openPostgres({ url, poolMin: 0, poolMax: 1 });
  try {
    await migrate(db, [...migrations, expansion]);
  } finally {
    await db.close();
  }
}
