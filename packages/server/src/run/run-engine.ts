import { AppError, type Message, type Run, type Session } from "@cognition/contract";
import type { AbortedRuns, DeliveryOfAborted, NewRun } from "@cognition/thread";
import { ClaimLoop } from "./claim-loop.ts";
import { type RunHandle, type RunWorkerOptions, startRun } from "./run-worker.ts";

export interface RunEngineOptions extends Omit<RunWorkerOptions, "lease_ms" | "max_stalled_attempts"> {
  /** This node's name, for people. */
  owner: string;
  lease_ms?: number;
  max_stalled_attempts?: number;
  /** How many runs this node works on at a time; the others wait, or go to other nodes. */
  max_runs?: number;
  /** How soon a run is found that nobody told this node of: another node's, or one whose lease ran out. */
  poll_ms?: number;
  /** Refuses an address that no callback may go to, before anything is written. */
  checkCallback?: (url: string) => void;
  /** The trace of a run that was given none. */
  newTraceId?: (() => string) | undefined;
  /** What a session's agent is at this moment, kept for ever: a run goes by it to its end. Rejects for an unknown one. */
  revisionOf?: (agent: Pick<Session, "agent_name" | "scopes">) => Promise<string>;
}

/** A message for a session, and what is to become of it while another run is active. */
export type Submission = Omit<NewRun, "deliveryOf">;

export interface RunEngine {
  /** Accepted means kept: resolves when message and run are durable. The run does not depend on the caller any more. */
  submit(submission: Submission): Promise<{ run: Run; message: Message | null; created: boolean }>;
  /**
   * Goes on with a run that waits for a human, with an input or what the function makes of the one it had; if given, only
   * while it still waits for what that attempt asked.
   */
  answer(run_id: string, input: unknown | ((before: unknown) => unknown), attempt?: number): Promise<Run>;
  /** Ends what waits and stops what runs on this node; what runs elsewhere is told by the storage. */
  abort(session_id: string, run_id?: string): Promise<string[]>;
  /** Begins to claim runs. */
  start(): void;
  /** Claims no more, hands over at the next step what is running, and after the deadline at once. */
  drain(deadline_ms: number): Promise<void>;
  /** Resolves when this node works on no run of the session any more. */
  untilLeft(session_id: string): Promise<void>;
  readonly active: readonly string[];
  readonly draining: boolean;
}

// A dead node's runs are to be taken over within five seconds: the lease, a poll and some slack.
const LEASE_MS = 4_000;
const POLL_MS = 500;
const MAX_RUNS = 64;
const MAX_STALLED_ATTEMPTS = 3;
/** After the deadline: longer than a tool that was told to stop may take. */
const LEAVES_WITHIN_MS = 4_000;

export function createRunEngine(options: RunEngineOptions): RunEngine {
  const { storage, owner, lease_ms = LEASE_MS, max_runs = MAX_RUNS, poll_ms = POLL_MS } = options;
  const worker = { ...options, lease_ms, max_stalled_attempts: options.max_stalled_attempts ?? MAX_STALLED_ATTEMPTS };
  const claims = new ClaimLoop({
    ...{ storage, owner, lease_ms, max_runs, poll_ms },
    begin: (claimed, asked) => startRun(worker, claimed, asked),
    onError: (error) => options.onError(error, ""),
  });
  const { active } = claims;
  let draining = false;
  let watching: Promise<() => void> | undefined;

  const deliveryOfAborted: DeliveryOfAborted = (run, _input, callback_url) =>
    options.deliveryOf?.({ run, callback_url }, { status: "aborted", assistant: null, usage: run.usage });

  async function abort(session_id: string, run_id?: string): Promise<string[]> {
    const { ended, marked } = await storage.requestAbort(session_id, run_id, deliveryOfAborted);
    stopAborted({ ended, marked });
    claims.wake();
    return [...ended, ...marked];
  }

  function stopAborted({ ended, marked }: AbortedRuns): void {
    if (ended.length > 0) options.onOwed?.(); // or not, which is seen there
    for (const id of marked) active.get(id)?.abort();
  }

  function onNews(session_id: string | null): void {
    if (session_id === null) claims.wake();
    for (const handle of active.values()) if (handle.session_id === session_id) handle.look();
  }

  return {
    submit: async ({ on_busy = "enqueue", ...run }) => {
      if (draining) throw new AppError("draining", "This node is shutting down; send the message to another one");
      if (run.callback_url) options.checkCallback?.(run.callback_url);
      const agent_revision = run.agent_revision ?? (await currentRevision(options, run));
      const given = { ...run, agent_revision, on_busy, deliveryOf: deliveryOfAborted };
      const { run: made, message, created, interrupted, claimed } = await claims.admit(toNewRun(options, given));
      if (interrupted) stopAborted(interrupted);
      if (!claimed) claims.wake(run.session_id);
      return { run: made, message, created };
    },
    answer: async (run_id, input, attempt) => {
      const run = await storage.resumeRun(run_id, input, attempt);
      claims.wake();
      return run;
    },
    abort,
    start: () => {
      claims.start();
      watching ??= storage.watchRuns(onNews);
      watching.catch((error) => options.onError(error, "")); // polls and heartbeats find the same, later
    },
    drain: async (deadline_ms) => {
      draining = true;
      watching?.then(
        (stop) => stop(),
        () => undefined,
      ); // told when it failed
      const handOver = () => active.forEach((handle) => void handle.drain());
      handOver(); // at once: a claim that is on its way may take its time
      await claims.stop();
      handOver(); // and what that claim has brought
      await allLeft([...active.values()], deadline_ms);
    },
    untilLeft: (session_id) => claims.untilLeft(session_id),
    get active() {
      return [...active.keys()];
    },
    get draining() {
      return draining;
    },
  };
}

/** Waits until each has handed its run over, or has come to its end; after the deadline they leave at once. */
async function allLeft(handles: readonly RunHandle[], deadline_ms: number): Promise<void> {
  const { promise: gaveUp, resolve: giveUp } = Promise.withResolvers<void>();
  let last: NodeJS.Timeout | undefined;
  const late = setTimeout(() => {
    for (const handle of handles) handle.leave();
    // Who can't even hand his run back, because the storage is away, leaves it to its lease.
    last = setTimeout(giveUp, LEAVES_WITHIN_MS);
  }, deadline_ms);
  await Promise.race([gaveUp, Promise.all(handles.map((handle) => handle.finished))]);
  clearTimeout(late);
  clearTimeout(last);
}

/** Found before anything is written: a message that no agent can answer is refused, not accepted and then failed. */
async function currentRevision(
  { storage, revisionOf }: RunEngineOptions,
  { session_id, agent_name }: NewRun,
): Promise<string | null> {
  if (!revisionOf) return null;
  const session = await storage.getSession(session_id);
  if (!session) return null; // `createRun` says so
  return revisionOf({ agent_name: agent_name ?? session.agent_name, scopes: session.scopes });
}

function toNewRun({ newTraceId }: RunEngineOptions, run: NewRun): NewRun {
  return {
    events: [{ event: "status", data: { status: "queued" } }],
    ...run,
    trace_id: run.trace_id ?? newTraceId?.() ?? null,
  };
}
