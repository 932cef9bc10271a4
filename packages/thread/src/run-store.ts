import type { Interrupt, Message, Run, Scope, Session } from "@cognition/contract";
import type { NewDelivery } from "./delivery-store.ts";
import type { NewEvent } from "./event-log.ts";
import type { NewMessage } from "./message-store.ts";

export interface NewRun {
  id?: string;
  session_id: string;
  agent_name?: string;
  agent_revision?: string | null;
  model?: string | null;
  /** What the run is to work on; opaque to storage. */
  input?: unknown;
  /**
   * `reject`: only on a thread with nothing to do, else `session_busy`. `interrupt`: what is open is aborted, as by
   * `requestAbort`. Both are decided in the same commit: what is not admitted, or was before, disturbs nothing.
   */
  on_busy?: "enqueue" | "reject" | "interrupt";
  /** Of the runs that an `interrupt` ends at once, as in `requestAbort`. */
  deliveryOf?: DeliveryOfAborted;
  /** The run that this one goes on from. */
  resumes?: string | null;
  /** Who is to be told of its end; left out, whoever the run that it resumes would have told. */
  callback_url?: string | null;
  trace_id?: string | null;
  /** The user's message, stored in the same commit. */
  message?: Omit<NewMessage, "session_id">;
  /** Events of the admission (`status: queued`), in the same commit. */
  events?: NewEvent[];
  /** The same key and body gives the first run again; another body rejects with `idempotency_mismatch`. */
  idempotency?: { key: string; body_hash: string; ttl_ms?: number };
  /** Who works on it at once, if it is the first in its thread's line: as `claimRun` in the same commit. */
  claim?: Pick<RunClaim, "owner" | "lease_ms"> & {
    /** Not if a run of any other scope is queued. */
    unless_waiting_outside?: readonly Scope[];
  };
}

/** The outbox row that the end of an aborted run owes. May be asked twice and must have no effects. */
export type DeliveryOfAborted = (run: Run, input: unknown, callback_url: string | null) => NewDelivery | undefined;

/** Ids of runs that were ended at once, and of those marked for their owner to end. */
export interface AbortedRuns {
  ended: string[];
  marked: string[];
}

export interface Admission {
  /** As it was accepted: queued. */
  run: Run;
  message: Message | null;
  created: boolean;
  /** What the run took over from (`on_busy: interrupt`), if anything was open. */
  interrupted?: AbortedRuns;
  /** Where it was asked for and could be: the run has begun. */
  claimed?: ClaimedRun;
}

export interface Lease {
  run_id: string;
  epoch: number;
}

export interface RunClaim {
  owner: string;
  /** At most MAX_LEASE_MS, and so in `renewLease`. */
  lease_ms: number;
  session_id?: string;
  /** Passes over the runs of these. */
  except_scopes?: readonly Scope[];
  /** Passes over these: whoever asks is at work on them, though their leases may have run out. */
  except_runs?: readonly string[];
}

/** What a run needs to know of its session: nothing of it changes because of the run. */
export type RunSession = Pick<
  Session,
  "id" | "thread_id" | "agent_name" | "config" | "scopes" | "metadata" | "mode" | "workspace_path"
> & {
  /** Whether somebody has begun a task on it: most have none, and need not be asked what it is. */
  has_task: boolean;
};

export interface ClaimedRun extends Lease {
  run: Run;
  session: RunSession;
  scopes: Scope;
  thread_id: string;
  input: unknown;
  callback_url: string | null;
  abort_requested: boolean;
  /** Earlier attempts that a crash cut off since the last new checkpoint; 0 at the first claim. */
  stalled_attempts: number;
  /** Where the count of the run's events goes on: an earlier attempt has used the ordinals below. */
  next_ordinal: number;
}

export interface WaitingRun {
  run: Run;
  interrupts: Interrupt[];
  waiting_since: string;
}

export interface RunEnd {
  status: "succeeded" | "failed" | "aborted";
  error?: Run["error"];
  usage?: Run["usage"];
  /** Written before `done`, which must be the last of them and the only one. */
  events: NewEvent[];
  /** An outbox row, in the same commit. */
  delivery?: NewDelivery;
  /**
   * Given the run's last word, as its row is in this very commit, says what else `done` tells and which outbox row there is
   * (instead of `delivery`). May be asked twice and must have no effects.
   */
  withLastWord?: (assistant: Message | null) => { done: Record<string, unknown>; delivery?: NewDelivery | undefined };
}

export interface RunStore {
  /**
   * Accepted means kept: message, run, events and idempotency key are one commit. Rejects with `waiting_for_approval`
   * while a run of the session waits for a human, and with `session_inactive` for an inactive session.
   */
  createRun(run: NewRun): Promise<Admission>;
  /**
   * What `createRun` stored under this key in this session, without storing anything; null if it never did. Rejects with
   * `idempotency_mismatch` as that does.
   */
  findAdmittedRun(
    session_id: string,
    idempotency: { key: string; body_hash: string },
  ): Promise<{ run: Run; message: Message | null } | null>;
  getRun(run_id: string, scope?: Scope): Promise<Run>;
  /** What the run works on, or worked on last: as it was admitted, or answered. */
  getRunInput(run_id: string): Promise<unknown>;
  /** How many wait for a node, in all scopes. */
  countQueuedRuns(): Promise<number>;
  /** Newest first. */
  listRuns(
    session_id: string,
    page?: { limit?: number; offset?: number; before?: string; scope?: Scope; status?: Run["status"] },
  ): Promise<Run[]>;
  countRuns(session_id: string, filter?: { scope?: Scope; status?: Run["status"] }): Promise<number>;
  /**
   * Gives the oldest run that may go on to exactly one caller: queued, first of its thread, no lease on the thread; or
   * running with a lease that has run out by the database's clock, or ends later than any lease can, since that clock was put
   * back. Raises the thread's epoch, so that the former
   * owner's writes are refused. `null` if there is none. One whose row is damaged is passed over, and told as `corrupt_data`
   * where there is no other.
   */
  claimRun(claim: RunClaim): Promise<ClaimedRun | null>;
  /**
   * `held` while the epoch is still the thread's, even after the lease ran out unclaimed; `abort_requested` if so, and
   * somebody on any node wants the run aborted; `lost` otherwise.
   */
  renewLease(lease: Lease, lease_ms: number): Promise<"held" | "abort_requested" | "lost">;
  /** Puts a running run back to the front of its thread's queue, free at once for another node. */
  releaseRun(lease: Lease): Promise<void>;
  /**
   * running → waiting_for_approval, with its events and what it has used so far; the lease ends. A run that somebody wants
   * aborted does not wait: it is refused with `aborted`, stays running, and its owner ends it. With `rebuild`, results that no
   * checkpoint holds yet, of calls beside the one that asks, are among the session's messages in the same commit.
   */
  suspendRun(
    lease: Lease,
    events: NewEvent[],
    delivery?: NewDelivery,
    usage?: Run["usage"],
    rebuild?: boolean,
  ): Promise<Run>;
  /**
   * waiting_for_approval → queued with a new input, or with what the function makes of the old one (it may be asked
   * twice). Two racing answers: one wins, the other gets `already_answered`; also if the run has asked again meanwhile,
   * where the answer says of which `attempt` the question was that it answers.
   */
  resumeRun(run_id: string, input: unknown | ((before: unknown) => unknown), attempt?: number): Promise<Run>;
  /** Runs that wait for a human, longest waiting first, each with what it asks. */
  listWaitingRuns(filter?: { scope?: Scope; session_id?: string }): Promise<WaitingRun[]>;
  /**
   * Ends waiting runs and those that never began at once, each with its `done` and, if `deliveryOf` gives one, its
   * outbox row; marks one that has begun for its owner, or for whoever claims it next; gives the ids of all of them.
   * `deliveryOf` may be asked twice and must have no effects.
   */
  requestAbort(session_id: string, run_id?: string, deliveryOf?: DeliveryOfAborted): Promise<AbortedRuns>;
  /**
   * Hints of what other processes did: the id of a session one of whose running runs somebody wants aborted, or `null`
   * where there may be something to claim. It may come late, twice or never. Gives the way to stop.
   */
  watchRuns(onNews: (session_id: string | null) => void): Promise<() => void>;
  /**
   * Exactly one end: a second one, or one from an old epoch, is refused with `run_ended` or `stale_epoch`. What the
   * checkpointer has on its way under this lease (the same object) is stored before it or with it; if that fails, so does
   * the end, with its error. Says too whether others wait in the session's queue.
   */
  finishRun(lease: Lease, end: RunEnd): Promise<{ run: Run; others_wait: boolean }>;
}
