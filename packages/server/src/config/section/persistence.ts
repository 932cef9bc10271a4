import { PersistenceBackend } from "@cognition/contract";
import { oneOf, option, section, wholeNumber, words } from "../option.ts";

export const Persistence = section({
  backend: option(oneOf(PersistenceBackend.options as ["sqlite", "postgres", "memory"]).optional(), {
    description: "Where everything is stored. Must fit `uri` where both are given.",
    unset: "sqlite, or what the uri names",
  }),
  uri: option(words("a path or a postgresql:// address").optional(), {
    description:
      "For sqlite a path, relative to the workspace root; for postgres `postgresql://user:password@host:5432/database`.",
    secret: true,
    unset: ".cognition/state.db",
  }),
  pool: section({
    min: option(wholeNumber(0, 1000).default(1), { description: "PostgreSQL connections that are kept open." }),
    max: option(wholeNumber(1, 1000).default(10), { description: "PostgreSQL connections at most." }),
  }),
});
