import { AsyncLocalStorage } from "node:async_hooks";
import type { Failpoint } from "../../src/sql/database.ts";

/** Where a writer is to die: inside which method of the storage, at what, and the how-manieth time that happens. */
export interface KillPlan {
  step: string;
  method: string;
  point: string;
  skip: number;
}

/** One call of a method of the storage. */
export interface Call {
  method: string;
  /** Whether it has passed a statement or a commit: until then nothing of it can be half done. */
  underway: boolean;
}

/** Which call is at work. On SQLite several share a commit, which counts as the first one's. */
export const atWork = new AsyncLocalStorage<Call>();

export interface Failpoints {
  failpoint: Failpoint;
  /** Until then nothing is counted, and nobody dies. */
  arm(plan: KillPlan | undefined): void;
  /** Called with every point that is passed; `first` while the call has done nothing yet. */
  watch(onPoint: OnPoint): void;
}

type OnPoint = (method: string, point: string, first: boolean) => void;

/** On PostgreSQL a transaction may travel as one message: only after this turn of the loop is it on its way. */
const SENT = "sent";

export function createFailpoints(): Failpoints {
  let armed: KillPlan | undefined;
  let left = 0;
  let watcher: OnPoint | undefined;

  function pass(call: Call, point: string): void {
    const { method, underway } = call;
    call.underway ||= point !== "begin";
    watcher?.(method, point, !underway);
    if (!armed || method !== armed.method || point !== armed.point) return;
    if (left-- > 0) return;
    process.kill(process.pid, "SIGKILL");
  }

  return {
    failpoint: (at, sql) => {
      const call = atWork.getStore() ?? { method: "initialize", underway: false };
      const point = at === "statement" ? pointOf(sql ?? "") : at;
      if (point === undefined) return;
      pass(call, point);
      if (at === "commit") setImmediate(() => pass(call, SENT));
    },
    arm: (plan) => {
      armed = plan;
      left = plan?.skip ?? 0;
    },
    watch: (onPoint) => {
      watcher = onPoint;
    },
  };
}

const WRITE = /\b(insert into|update|delete from|create (?:unique )?(?:table|index)(?: if not exists)?)\s+"?(\w+)"?/i;

/** "insert events", "update threads" …; undefined for a statement that only reads. */
function pointOf(sql: string): string | undefined {
  const text = sql.replace(/for update( skip locked)?/gi, "").trimStart();
  if (/^select/i.test(text)) return undefined;
  const [, verb, table] = WRITE.exec(text) ?? [];
  if (verb === undefined) return undefined;
  return `${verb.toLowerCase().split(" ")[0]} ${verb.toLowerCase().startsWith("create") ? "schema" : table}`;
}
