import { isAppError } from "@cognition/contract";
import type { ClaimedRun, Storage } from "@cognition/thread";
import type { RunHandle } from "./run-worker.ts";
import { createScopeShares } from "./scope-shares.ts";

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
  /** Something may be there to claim: of this session, or who knows what. */
  wake(session_id?: string): void;
  /** Claims no more; resolves when what was being claimed has begun. */
  stop(): Promise<void>;
}

/** Claims runs as long as there are any and there is room: when woken, and now and then for those nobody told of. */
export function createClaimLoop(options: ClaimLoopOptions): ClaimLoop {
  const { storage, owner, lease_ms, max_runs } = options;
  const active = new Map<string, RunHandle>();
  const shares = createScopeShares();
  let timer: NodeJS.Timeout | undefined;
  let claiming: Promise<void> | undefined;
  let again = false;
  let told: string[] = [];
  let maybeMore = false;
  /** Something was left where it was for want of room. */
  let full = false;

  function wake(session_id?: string): void {
    if (!timer) return;
    again = true;
    if (session_id === undefined) maybeMore = true;
    else told.push(session_id);
    goOn();
  }

  function goOn(): void {
    claiming ??= claimAll().finally(() => {
      claiming = undefined;
      if (again && timer) goOn();
    });
  }

  async function claimAll(): Promise<void> {
    while (again && timer) {
      again = false;
      await Promise.all([...active.values()].flatMap((handle) => handle.catchUp() ?? []));
      await claimWhatWasTold();
      await claimWhatIsThere();
    }
  }

  /**
   * A run that somebody told of is looked for by its session: whatever else waits, or runs, is not read for it. Asked for
   * together, claims share a commit (SQLite) or a flight (PostgreSQL); one by one, each run would wait for all before it.
   */
  async function claimWhatWasTold(): Promise<void> {
    const sessions = full ? [] : [...new Set(told)];
    // Where others have waited for a place, it is the next in line that gets it, not who is told of.
    maybeMore ||= full && told.length > 0;
    told = [];
    while (sessions.length > 0 && timer) {
      const room = roomNow();
      if (room < 1) {
        full = true;
        return;
      }
      await claimTogether(sessions.splice(0, room));
    }
  }

  /** As many as there are and as there is room for: more are asked for at a time as long as all are given. */
  async function claimWhatIsThere(): Promise<void> {
    if (!maybeMore) return;
    maybeMore = false;
    full = false;
    for (let asked = 1; timer; asked *= 2) {
      const count = Math.min(asked, roomNow());
      if (count < 1) {
        full = true;
        return;
      }
      if (!(await claimTogether(Array.from({ length: count }, () => undefined)))) return;
    }
  }

  /** No more than would bring a scope to its half: past it, who else waits has to be asked each time. */
  function roomNow(): number {
    return Math.min(max_runs - active.size, Math.max(1, Math.floor(max_runs / 2 - shares.largest())));
  }

  /** Whether there were so many, and so may be more. */
  async function claimTogether(sessions: readonly (string | undefined)[]): Promise<boolean> {
    const claimed = await Promise.all(sessions.map(claimOne));
    for (const one of claimed) if (one) begin(one);
    return !claimed.includes(null);
  }

  /**
   * A scope that has half of this node's places gets another one only if nobody else wants it: whoever sends a thousand
   * messages at once makes himself wait, not the others.
   */
  async function claimOne(session_id: string | undefined): Promise<ClaimedRun | null> {
    try {
      const except_scopes = shares.from(max_runs / 2);
      const other = except_scopes.length > 0 && (await storage.claimRun({ owner, lease_ms, except_scopes }));
      const told = except_scopes.length === 0 && session_id !== undefined ? { session_id } : {};
      return other || (await storage.claimRun({ owner, lease_ms, ...told }));
    } catch (error) {
      // The storage is away: what waits is found by a later poll.
      if (!isAppError(error, "storage_closed")) options.onError(error);
      return null;
    }
  }

  function begin(claimed: ClaimedRun): void {
    const handle = options.begin(claimed);
    active.set(handle.run_id, handle);
    const leave = shares.enter(handle.scopes);
    void handle.finished.then(() => {
      leave();
      // After a lost lease the same run may be here twice, for as long as the first one takes to stop.
      if (active.get(handle.run_id) === handle) active.delete(handle.run_id);
      wake(handle.session_id); // the thread's next run may begin
      if (full) wake(); // and a place is free
    });
  }

  return {
    active,
    wake,
    start: () => {
      timer ??= setInterval(() => wake(), options.poll_ms);
      wake();
    },
    stop: async () => {
      clearInterval(timer);
      timer = undefined;
      await claiming;
    },
  };
}
