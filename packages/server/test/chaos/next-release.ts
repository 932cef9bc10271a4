import { cpSync, mkdirSync, readdirSync, readFileSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { migrations } from "../../../thread/src/sql/migrations/list.ts";

const ROOT = join(import.meta.dirname, "../../../..");
const MIGRATIONS = "packages/thread/src/sql/migrations";
const latest = migrations.at(-1)?.version ?? 0;

export const NEXT_VERSION = "999.0.0";
export const NEXT_SCHEMA = latest + 1;

/** What the release after this one might add. */
function migrationSource(oldestProgram: number): string {
  return `import type { Migration } from "./migration.ts";
export const next: Migration = {
  version: ${NEXT_SCHEMA},
  name: "of-the-next-release",
  oldestProgram: ${oldestProgram},
  up: () => [
    "alter table runs add column of_the_next_release text default 'expanded'",
    "alter table events add column of_the_next_release text",
    "create table of_the_next_release (id bigint primary key, value text not null)",
  ],
};
`;
}

export interface NextRelease {
  /** The program of its nodes. */
  readonly program: string;
}

/**
 * A second build of this program, with a version and a schema of its own: the sources copied, the dependencies shared. Its
 * schema only expands, so that nodes of this release go on beside it, unless it says otherwise.
 */
export function makeNextRelease(folder: string, { compatible = true } = {}): NextRelease {
  const skipped = /\/(node_modules|dist)(\/|$)/;
  const packages = join(ROOT, "packages");
  cpSync(packages, join(folder, "packages"), {
    recursive: true,
    filter: (source) => !skipped.test(source.slice(packages.length)),
  });
  linkDependencies(folder);
  edit(join(folder, "packages/server/package.json"), (text) =>
    JSON.stringify({ ...JSON.parse(text), version: NEXT_VERSION }),
  );
  writeFileSync(join(folder, MIGRATIONS, "next.ts"), migrationSource(compatible ? latest : NEXT_SCHEMA));
  edit(join(folder, MIGRATIONS, "list.ts"), (text) =>
    text.replace(/\n\];\n/, "\n  next,\n];\n").replace(/^/, 'import { next } from "./next.ts";\n'),
  );
  return { program: join(folder, "packages/server/test/chaos/chaos-node.ts") };
}

function edit(file: string, change: (text: string) => string): void {
  writeFileSync(file, change(readFileSync(file, "utf8")));
}

/** Its own packages, and everybody else's from where they are. */
function linkDependencies(folder: string): void {
  const modules = join(folder, "node_modules");
  mkdirSync(join(modules, "@cognition"), { recursive: true });
  for (const name of readdirSync(join(ROOT, "node_modules"))) {
    if (name !== "@cognition") symlinkSync(join(ROOT, "node_modules", name), join(modules, name));
  }
  for (const name of readdirSync(join(folder, "packages"))) {
    symlinkSync(join(folder, "packages", name), join(modules, "@cognition", name));
    const own = join(ROOT, "packages", name, "node_modules");
    symlinkSync(own, join(folder, "packages", name, "node_modules"));
  }
}
