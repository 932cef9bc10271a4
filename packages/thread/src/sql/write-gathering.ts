import { nextTurn } from "./next-turn.ts";

/** A writer of which nothing came for so long is not waited for. */
const RECENT_MS = 20;
/** Two may be one run and the next after it, of somebody who sends one message at a time. */
const SEVERAL = 3;
/** Who waits for others waits at most so many commits long: then the disk has at most a ninth of the time. */
const COMMITS_WORTH = 8;
/** However slow the disk: past this, waiting is felt. */
const LONGEST_MS = 20;
/** A turn of the event loop this short did nothing: everybody waits, and most likely for this commit. */
const IDLE_TURN_MS = 0.1;
/** How much the last commit counts for how long one takes. */
const WEIGHT = 0.2;

/**
 * When to commit. Runs that work side by side come to their writes at different moments; with a commit for each, a busy
 * process spends more time on the disk than on the runs. So while several writers are at work and keep the event loop
 * busy, a commit waits for what they bring, as long as some commits take. A lone writer never waits, nor does anybody
 * in a process that has nothing else to do.
 */
export class WriteGathering {
  readonly #now: () => number;
  readonly #nextTurn: () => Promise<void>;
  readonly #writers = new Map<string, number>();
  #commitMs = 0;

  constructor({ now = () => performance.now(), nextTurn: turn = nextTurn } = {}) {
    this.#now = now;
    this.#nextTurn = turn;
  }

  note(writer: string): void {
    // The newest last, so that the old ones are found at the front.
    this.#writers.delete(writer);
    this.#writers.set(writer, this.#now());
  }

  time(commit: () => void): void {
    const start = this.#now();
    commit();
    this.#commitMs += (this.#now() - start - this.#commitMs) * WEIGHT;
  }

  /** Resolves when what waits is to be committed, undefined for at once; `waiting` says how many writes that are. */
  gather(waiting: () => number): Promise<void> | undefined {
    const start = this.#now();
    const writers = this.#recentWriters(start);
    return writers < SEVERAL ? undefined : this.#gatherFrom(start, writers, waiting);
  }

  async #gatherFrom(start: number, writers: number, waiting: () => number): Promise<void> {
    const until = start + Math.min(this.#commitMs * COMMITS_WORTH, LONGEST_MS);
    for (let now = start; now < until && waiting() < writers; ) {
      const [turned, before] = [now, waiting()];
      await this.#nextTurn();
      now = this.#now();
      if (now - turned < IDLE_TURN_MS && waiting() === before) return;
    }
  }

  #recentWriters(now: number): number {
    for (const [writer, seen] of this.#writers) {
      if (now - seen <= RECENT_MS) break;
      this.#writers.delete(writer);
    }
    return this.#writers.size;
  }
}
