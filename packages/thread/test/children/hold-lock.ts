import { DatabaseSync } from "node:sqlite";
import { input, say, waitForGo } from "./parent.ts";

/** Holds the write lock of a SQLite file until it is let go. */
const { path } = input<{ path: string }>();
const db = new DatabaseSync(path);
db.exec("pragma journal_mode = wal; begin immediate");
await waitForGo();
db.exec("rollback");
db.close();
say("released");
process.exit();
