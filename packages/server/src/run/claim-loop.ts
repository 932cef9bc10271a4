import { isAppError, type Scope } from "@cognition/contract";
import type { ClaimedRun, Storage } from "@cognition/thread";
import type { RunHandle } from "./run-worker.ts";

export interface ClaimLoopOptions {
  storage: Pick<Storage, "claimRun">;
  owner: string;
  lease_ms: number;
  /** How many runs at a time. */
  max_runs: number;
  poll_ms: number;
  begin(claimed: ClaimedRun): RunHandle;
  onError(error: unknown): void;
}

export interface ClaimLoop {
  /** By run id. */
  readonly active: ReadonlyMap<string, RunHandle>;
  start(): void;
  /** Something may be there to claim: so many runs that were just admitted, or who knows how many. */
  wake(admitted?: number): void;
  /** Claims no more; resolves when what was being claimed has begun. */
  stop(): Promise<void>;
}

/** Claims runs as long as there are any and there is room: when woken, and now and then for those nobody told of. */
export function createClaimLoop(options: ClaimLoopOptions): ClaimLoop {
  const { storage, owner, lease_ms, max_runs } = options;
  const active = new Map<string, RunHandle>();
  let timer: NodeJS.Timeout | undefined;
  let claiming: Promise<void> | undefined;
  let again = false;
  let told = 0;
  let maybeMore = false;

  function wake(admitted = 0): void {
    if (!timer) return;
    again = true;
    told += admitted;
    maybeMore ||= admitted === 0;
    claiming ??= claimAll().finally(() => {
      claiming = undefined;
      if (again) wake();
    });
  }

  async function claimAll(): Promise<void> {
    while (again && timer) {
      again = false;
      await Promise.all([...active.values()].map((handle) => handle.catchUp()));
      await claimWhatIsThere();
    }
  }

  /** Asked for together, claims share a commit (SQLite) or a flight (PostgreSQL); one by one, each run would wait for all before it. */
  async function claimWhatIsThere(): Promise<void> {
    let asked = told + Number(maybeMore);
    const untilNone = maybeMore;
    told = 0;
    maybeMore = false;
    while (asked > 0 && timer) {
      const count = Math.min(asked, roomNow());
      if (count < 1 || !(await claimTogether(count))) return;
      asked = untilNone ? asked * 2 : asked - count;
    }
  }

  /** No more than would bring a scope to its half: past it, who else waits has to be asked each time. */
  function roomNow(): number {
    const most = Math.max(0, ...runsByScope([...active.values()]).map(({ length }) => length));
    return Math.min(max_runs - active.size, Math.max(1, Math.floor(max_runs / 2 - most)));
  }

  /** Whether there were so many, and so may be more. */
  async function claimTogether(count: number): Promise<boolean> {
    const claimed = await Promise.all(Array.from({ length: count }, claimOne));
    for (const one of claimed) if (one) begin(one);
    return !claimed.includes(null);
  }

  /**
   * A scope that has half of this node's places gets another one only if nobody else wants it: whoever sends a thousand
   * messages at once makes himself wait, not the others.
   */
  async function claimOne(): Promise<ClaimedRun | null> {
    try {
      const except_scopes = largeScopes([...active.values()], max_runs / 2);
      const other = except_scopes.length > 0 && (await storage.claimRun({ owner, lease_ms, except_scopes }));
      return other || (await storage.claimRun({ owner, lease_ms }));
    } catch (error) {
      // The storage is away: what waits is found by a later poll.
      if (!isAppError(error, "storage_closed")) options.onError(error);
      return null;
    }
  }

  function begin(claimed: ClaimedRun): void {
    const handle = options.begin(claimed);
    active.set(handle.run_id, handle);
    void handle.finished.then(() => {
      // After a lost lease the same run may be here twice, for as long as the first one takes to stop.
      if (active.get(handle.run_id) === handle) active.delete(handle.run_id);
      wake(); // a place is free, and the thread's next run may begin
    });
  }

  return {
    active,
    wake,
    start: () => {
      timer ??= setInterval(wake, options.poll_ms);
      wake();
    },
    stop: async () => {
      clearInterval(timer);
      timer = undefined;
      await claiming;
    },
  };
}

function largeScopes(handles: readonly RunHandle[], share: number): Scope[] {
  return runsByScope(handles).flatMap((group) => (group.length >= share && group[0] ? [group[0].scopes] : []));
}

function runsByScope(handles: readonly RunHandle[]): RunHandle[][] {
  return [...Map.groupBy(handles, ({ scopes }) => JSON.stringify(Object.entries(scopes).sort())).values()];
}
