import { setTimeout as delay } from "node:timers/promises";
import type { Failpoint } from "./database.ts";
import { isBusy } from "./errors.ts";
import { LONGEST_TURN_MS, nextTurn, turnAge } from "./next-turn.ts";
import type { SqliteConnection } from "./sqlite-connection.ts";
import type { Tx } from "./statement.ts";
import { WriteGathering } from "./write-gathering.ts";

const RETRY_MS = 5;
/** So many writers go on in one turn of the event loop: of more, requests would be heard too late. */
const SIDE_BY_SIDE = 10;
/** The same of reading. A read that waited for its turn would let a request come to its commit a turn later. */
const LONGEST_READING_MS = 25;
/** After a job that failed, so many commits take the trouble that each of their jobs can be taken back by itself. */
const CAREFUL_COMMITS = 100;

interface Job {
  body: () => Tx<unknown>;
  /** Where the same one writes again and again. */
  writer: string | undefined;
  resolve: (value: unknown) => void;
  reject: (error: unknown) => void;
}

function isRequest({ writer }: Job): boolean {
  return writer === undefined;
}

type Outcome = { job: Job; value: unknown } | { job: Job; error: unknown };

/**
 * Group commit: all that arrives in one turn of the event loop is one transaction, and one fsync. While several writers
 * keep the process busy, what the next turns bring joins it (`WriteGathering`). One who is alone and writes again as soon
 * as it may does not wait for the turn to end.
 */
export class CommitQueue {
  readonly #connection: SqliteConnection;
  readonly #busyTimeoutMs: number;
  readonly #failpoint: Failpoint | undefined;
  #jobs: Job[] = [];
  #flushing: Promise<void> | undefined;
  /** Writers whose writes are stored, and who are still to go on. */
  readonly #settling: Outcome[] = [];
  /** Writers were left for the next commit. */
  #leftSome = false;
  /** Whose the last commit was, if it was one writer's. */
  #alone: string | undefined;
  /** How many of the next commits are careful. */
  #careful = 0;
  readonly #gathering = new WriteGathering();

  constructor(connection: SqliteConnection, options: { busyTimeoutMs: number; failpoint?: Failpoint | undefined }) {
    this.#connection = connection;
    this.#busyTimeoutMs = options.busyTimeoutMs;
    this.#failpoint = options.failpoint;
  }

  /** With the writer's name, where the same one writes again and again. */
  add<T>(body: () => Tx<T>, writer?: string): Promise<T> {
    if (writer !== undefined) this.#gathering.note(writer);
    return new Promise<T>((resolve, reject) => {
      this.#jobs.push({ body, writer, resolve: resolve as (value: unknown) => void, reject });
      this.#flushing ??= this.#begins(writer).then(() => this.#flush());
    });
  }

  async #begins(writer: string | undefined): Promise<void> {
    const goesOn = writer !== undefined && writer === this.#alone && turnAge() < LONGEST_TURN_MS;
    if (!goesOn) await nextTurn();
  }

  /** Lets what waits be written, now and then. A caller that only ever reads would otherwise never give up its turn. */
  async giveWay(): Promise<void> {
    if (this.#flushing && turnAge() >= LONGEST_READING_MS) await nextTurn();
  }

  /** Everything added so far is written, or refused. */
  async drain(): Promise<void> {
    await this.#flushing;
  }

  async #flush(): Promise<void> {
    while (this.#isOpen) {
      if (this.#isDue) await this.#commitAndAnswer();
      this.#settle(this.#settling.splice(0, SIDE_BY_SIDE));
      // What the callers just resolved want to write next joins the next commit.
      if (this.#isOpen) await nextTurn();
    }
    this.#flushing = undefined;
  }

  get #isOpen(): boolean {
    return this.#jobs.length > 0 || this.#settling.length > 0;
  }

  /** While some are still to go on, only a request is a reason to commit. */
  get #isDue(): boolean {
    return this.#settling.length === 0 ? this.#jobs.length > 0 : this.#jobs.some(isRequest);
  }

  async #commitAndAnswer(): Promise<void> {
    const gathered = this.#settling.length === 0 ? this.#gathering.gather(() => this.#jobs.length) : undefined;
    if (gathered) await gathered;
    const committed = this.#commitWaiting();
    const outcomes = committed instanceof Promise ? await committed : committed;
    this.#alone = outcomes.length === 1 ? outcomes[0]?.job.writer : undefined;
    // Whoever writes again and again works on when the others have been answered: a request is heard before it.
    const requests = outcomes.filter(({ job }) => isRequest(job));
    this.#settle(requests);
    this.#settling.push(...outcomes.filter(({ job }) => !isRequest(job)));
    if (requests.length > 0 && this.#settling.length > 0) await nextTurn();
  }

  #settle(outcomes: readonly Outcome[]): void {
    for (const outcome of outcomes) {
      if ("error" in outcome) outcome.job.reject(this.#connection.toStorageError(outcome.error));
      else outcome.job.resolve(outcome.value);
    }
  }

  /** At once, unless another process writes. */
  #commitWaiting(): Outcome[] | Promise<Outcome[]> {
    const error = this.#begin();
    if (error && isBusy(error)) return this.#commitLater();
    return error ? this.#refuseWaiting(error) : this.#commitTogether(this.#takeJobs());
  }

  /** Asks again until it may. */
  async #commitLater(): Promise<Outcome[]> {
    const deadline = performance.now() + this.#busyTimeoutMs;
    for (;;) {
      await delay(RETRY_MS);
      const error = this.#begin();
      if (!error) return this.#commitTogether(this.#takeJobs());
      if (!isBusy(error) || performance.now() > deadline) return this.#refuseWaiting(error);
    }
  }

  #refuseWaiting(error: Error): Outcome[] {
    return this.#takeJobs().map((job) => ({ job, error }));
  }

  /** All that waits; of much, the requests first, which would wait for the writes of all who work on. But only once. */
  #takeJobs(): Job[] {
    const jobs = this.#jobs;
    const requests = jobs.length > SIDE_BY_SIDE && !this.#leftSome ? jobs.filter(isRequest) : [];
    this.#jobs = requests.length === 0 ? [] : jobs.filter((job) => !isRequest(job));
    this.#leftSome = this.#jobs.length > 0;
    return this.#leftSome ? requests : jobs;
  }

  /** What kept it from beginning, if anything did. */
  #begin(): Error | undefined {
    try {
      // A deferred transaction that reads first would fail at its first write as soon as anyone else has written.
      this.#connection.command("begin immediate");
      return undefined;
    } catch (error) {
      return error as Error;
    }
  }

  #commitTogether(jobs: Job[]): Outcome[] {
    try {
      this.#failpoint?.("begin");
      const outcomes = this.#runJobs(jobs);
      if (!outcomes) return this.#tryAgainApart(jobs);
      this.#failpoint?.("commit");
      this.#gathering.time(() => this.#connection.commit());
      this.#failpoint?.("committed");
      return outcomes;
    } catch (error) {
      this.#rollBack();
      return jobs.map((job) => ({ job, error }));
    }
  }

  /** Undefined if one of them has failed, and could not be taken back alone. */
  #runJobs(jobs: readonly Job[]): Outcome[] | undefined {
    const together = jobs.length === 1 || this.#careful === 0;
    if (!together) this.#careful--;
    try {
      return jobs.map((job) => (together ? { job, value: this.#runBody(job.body) } : this.#runApart(job)));
    } catch (error) {
      if (!together || jobs.length === 1) throw error;
      return undefined;
    }
  }

  /**
   * Nothing of them is stored. They are done again, each so that it can be taken back by itself: to do that every time would take
   * a twentieth of a busy node's time, since SQLite then copies every page for every job.
   */
  #tryAgainApart(jobs: readonly Job[]): Outcome[] {
    this.#rollBack();
    this.#careful = CAREFUL_COMMITS;
    this.#jobs.unshift(...jobs);
    return [];
  }

  #rollBack(): void {
    if (this.#connection.isInTransaction) this.#connection.exec("rollback");
  }

  /** A job that fails takes only itself back. */
  #runApart(job: Job): Outcome {
    this.#connection.command("savepoint job");
    try {
      const value = this.#runBody(job.body);
      this.#connection.command("release job");
      return { job, value };
    } catch (error) {
      // After some errors, as of a full disk, SQLite has taken back everything by itself.
      if (!this.#connection.isInTransaction) throw error;
      this.#connection.exec("rollback to job; release job");
      return { job, error };
    }
  }

  #runBody(body: () => Tx<unknown>): unknown {
    const steps = body();
    let step = steps.next();
    while (!step.done) {
      const results = step.value.map((statement) => {
        this.#failpoint?.("statement", statement.sql);
        return this.#connection.run(statement);
      });
      step = steps.next(results);
    }
    return step.value;
  }
}
