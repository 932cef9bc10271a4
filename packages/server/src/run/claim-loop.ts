import { isAppError } from "@cognition/contract";
import type { Admission, ClaimedRun, NewRun, Storage } from "@cognition/thread";
import type { RunHandle } from "./run-worker.ts";
import { createScopeShares } from "./scope-shares.ts";

export interface ClaimLoopOptions {
  storage: Pick<Storage, "claimRun" | "createRun">;
  owner: string;
  lease_ms: number;
  /** How many runs at a time. */
  max_runs: number;
  poll_ms: number;
  /** The claim was asked for at that moment, by `performance.now()`: its lease may run since then. */
  begin(claimed: ClaimedRun, asked: number): RunHandle;
  onError(error: unknown): void;
}

/** Claims runs as long as there are any and there is room: when woken, and now and then for those nobody told of. */
export class ClaimLoop {
  readonly #options: ClaimLoopOptions;
  readonly #active = new Map<string, RunHandle>();
  readonly #shares = createScopeShares();
  readonly #asking = new Set<Promise<unknown>>();
  #timer: NodeJS.Timeout | undefined;
  #claiming: Promise<void> | undefined;
  /** Places that claims under way may take. */
  #taken = 0;
  #again = false;
  #told: string[] = [];
  #maybeMore = false;
  /** Something was left where it was for want of room. */
  #full = false;

  constructor(options: ClaimLoopOptions) {
    this.#options = options;
  }

  /** By run id. */
  get active(): ReadonlyMap<string, RunHandle> {
    return this.#active;
  }

  start(): void {
    this.#timer ??= setInterval(() => this.wake(), this.#options.poll_ms);
    this.wake();
  }

  /** Something may be there to claim: of this session, or who knows what. */
  wake(session_id?: string): void {
    if (!this.#timer) return;
    if (session_id !== undefined && this.#claimAtOnce(session_id)) return;
    this.#again = true;
    if (session_id === undefined) this.#maybeMore = true;
    else this.#told.push(session_id);
    this.#goOn();
  }

  /** Stores a run, and begins it in the same commit where there is room for it and nothing comes before it. */
  async admit(run: NewRun): Promise<Admission> {
    const { storage, owner, lease_ms, max_runs } = this.#options;
    if (!this.#timer || this.#full || this.#placesLeft() < 1) return storage.createRun(run);
    // As in `#claimOne`; whose the claims under way are is not known yet, so they count for everybody.
    const unless_waiting_outside = this.#shares.from(Math.max(1, max_runs / 2 - this.#taken));
    const asked = performance.now();
    const { promise: settled, resolve } = Promise.withResolvers<void>();
    this.#asking.add(settled);
    this.#taken += 1;
    let claimed: ClaimedRun | undefined;
    try {
      const admission = await storage.createRun({ ...run, claim: { owner, lease_ms, unless_waiting_outside } });
      claimed = admission.claimed;
      return admission;
    } finally {
      this.#taken -= 1;
      this.#asking.delete(settled);
      resolve();
      if (claimed) this.#begin(claimed, asked);
      else if (this.#full) this.wake(); // for want of this place, perhaps
    }
  }

  /** Whoever is told of while there is room waits for no other claim. */
  #claimAtOnce(session_id: string): boolean {
    if (this.#full || this.#roomNow() < 1) return false;
    const asking = this.#claimTogether([session_id]).finally(() => {
      this.#asking.delete(asking);
      if (this.#full) this.wake(); // for want of this place, perhaps
    });
    this.#asking.add(asking);
    return true;
  }

  /** Claims no more; resolves when what was being claimed has begun. */
  async stop(): Promise<void> {
    clearInterval(this.#timer);
    this.#timer = undefined;
    await Promise.all([this.#claiming, ...this.#asking]);
  }

  /** Resolves when nothing of the session is being worked on here any more. */
  async untilLeft(session_id: string): Promise<void> {
    const own = [...this.#active.values()].filter((handle) => handle.session_id === session_id);
    await Promise.all(own.map(({ finished }) => finished));
  }

  #goOn(): void {
    this.#claiming ??= this.#claimAll().finally(() => {
      this.#claiming = undefined;
      if (this.#again && this.#timer) this.#goOn();
    });
  }

  async #claimAll(): Promise<void> {
    while (this.#again && this.#timer) {
      this.#again = false;
      await this.#claimWhatWasTold();
      await this.#claimWhatIsThere();
    }
  }

  /**
   * A run that somebody told of is looked for by its session: whatever else waits, or runs, is not read for it. Asked for
   * together, claims share a commit (SQLite) or a flight (PostgreSQL); one by one, each run would wait for all before it.
   */
  async #claimWhatWasTold(): Promise<void> {
    const sessions = this.#full ? [] : [...new Set(this.#told)];
    // Where others have waited for a place, it is the next in line that gets it, not who is told of.
    this.#maybeMore ||= this.#full && this.#told.length > 0;
    this.#told = [];
    while (sessions.length > 0 && this.#timer) {
      const room = this.#roomNow();
      if (room < 1) {
        this.#full = true;
        return;
      }
      await this.#claimTogether(sessions.splice(0, room));
    }
  }

  /** As many as there are and as there is room for: more are asked for at a time as long as all are given. */
  async #claimWhatIsThere(): Promise<void> {
    if (!this.#maybeMore) return;
    this.#maybeMore = false;
    this.#full = false;
    for (let asked = 1; this.#timer; asked *= 2) {
      const count = Math.min(asked, this.#roomNow());
      if (count < 1) {
        this.#full = true;
        return;
      }
      if (!(await this.#claimTogether(Array.from({ length: count }, () => undefined)))) return;
    }
  }

  /** No more than would bring a scope to its half. Past it, each claim asks first whether anybody else waits. */
  #roomNow(): number {
    const { max_runs } = this.#options;
    const toHalf = max_runs / 2 - this.#shares.largest();
    const share = toHalf > 0 ? Math.max(1, Math.floor(toHalf)) : max_runs;
    return Math.min(this.#placesLeft(), share - this.#taken);
  }

  #placesLeft(): number {
    return this.#options.max_runs - this.#active.size - this.#taken;
  }

  /** Whether there were so many, and so may be more. */
  async #claimTogether(sessions: readonly (string | undefined)[]): Promise<boolean> {
    this.#taken += sessions.length;
    try {
      const asked = performance.now();
      const claimed = await Promise.all(sessions.map((session_id) => this.#claimOne(session_id)));
      for (const one of claimed) if (one) this.#begin(one, asked);
      return !claimed.includes(null);
    } finally {
      this.#taken -= sessions.length;
    }
  }

  /**
   * A scope that has half of this node's places gets another one only if nobody else wants it: whoever sends a thousand
   * messages at once makes himself wait, not the others.
   */
  async #claimOne(session_id: string | undefined): Promise<ClaimedRun | null> {
    const { storage, owner, lease_ms, max_runs, onError } = this.#options;
    try {
      const except_scopes = this.#shares.from(max_runs / 2);
      const except_runs = [...this.#active.values()].flatMap((handle) => (handle.isHeld() ? handle.run_id : []));
      const claim = { owner, lease_ms, except_runs };
      const other = except_scopes.length > 0 && (await this.#claimReadable({ ...claim, except_scopes }));
      const told = except_scopes.length === 0 && session_id !== undefined ? { session_id } : {};
      return other || (await storage.claimRun({ ...claim, ...told }));
    } catch (error) {
      // The storage is away: what waits is found by a later poll.
      if (!isAppError(error, "storage_closed")) onError(error);
      return null;
    }
  }

  /** Where the others have but a damaged run, the place is still that of whoever wants it. */
  async #claimReadable(claim: Parameters<Storage["claimRun"]>[0]): Promise<ClaimedRun | null> {
    const { storage, onError } = this.#options;
    return storage.claimRun(claim).catch((error: unknown) => {
      if (!isAppError(error, "corrupt_data")) throw error;
      onError(error);
      return null;
    });
  }

  #begin(claimed: ClaimedRun, asked: number): void {
    const handle = this.#options.begin(claimed, asked);
    this.#active.set(handle.run_id, handle);
    const leave = this.#shares.enter(handle.scopes);
    void handle.finished.then((moreWaits) => {
      leave();
      // After a lost lease the same run may be here twice, for as long as the first one takes to stop.
      if (this.#active.get(handle.run_id) === handle) this.#active.delete(handle.run_id);
      if (moreWaits) this.wake(handle.session_id); // the thread's next run may begin
      if (this.#full) this.wake(); // and a place is free
    });
  }
}
