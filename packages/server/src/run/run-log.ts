import type { CheckpointSaver, ClaimedRun, NewEvent, WriterLease } from "@cognition/thread";
import type { RunObserver } from "./run-observer.ts";

/** A piece of what a model says. */
export interface TextPiece {
  message_id: string;
  agent?: string;
  content: string;
}

/** So many pieces of a text that come at once are events of their own. Nobody reads faster: the rest is joined to the last. */
const PIECES_AT_ONCE = 8;

/** The events of one run, numbered by the run itself and committed in the order in which they were given. */
export interface RunLog {
  /** Keeps the event until the next one or the next checkpoint, to be committed with it. */
  hold(event: NewEvent["event"], data: Record<string, unknown>): void;
  /**
   * For what comes by the hundred: committed together with whatever else this turn of the event loop brings, or with the
   * next event or checkpoint, if that comes first. Call `release` before anything is stored that presupposes it.
   *
   * The run's first words are committed at once: resolves when they are. Whoever waits for that lets them be heard before
   * the rest, even if a model says it all in one turn of the event loop.
   */
  stream(event: "token" | "reasoning", piece: TextPiece): Promise<void> | undefined;
  /** Writes what is held, now. */
  release(): void;
  /** What is held, for somebody else to commit. */
  takeHeld(): NewEvent[];
  /** Returns at once; the event is in the log before anyone sees it. */
  emit(event: NewEvent["event"], data: Record<string, unknown>): void;
  /** Numbers an event that somebody else commits: the last ones, with the run's end. */
  number(event: NewEvent["event"], data: Record<string, unknown>): NewEvent;
  /** Everything given so far is durable, the run's checkpoints included. Rejects with the first failure. */
  flush(): Promise<void>;
}

export function createRunLog(
  saver: Pick<CheckpointSaver, "appendEvents" | "flush">,
  claimed: ClaimedRun,
  lease: WriterLease,
  observer?: Pick<RunObserver, "event">,
): RunLog {
  let ordinal = claimed.next_ordinal;
  let held: NewEvent[] = [];
  let releasing: NodeJS.Immediate | undefined;
  let hasSpoken = false;

  function number(event: NewEvent["event"], data: Record<string, unknown>): NewEvent {
    observer?.event(event, data);
    return { event, data, ordinal: ordinal++ };
  }

  function takeHeld(): NewEvent[] {
    const taken = held;
    held = [];
    return taken;
  }

  function write(events: NewEvent[]): Promise<void> {
    // `flush` tells of a failure; until then it has told the lease, which stops the run.
    return saver.appendEvents(claimed.thread_id, lease, events).catch(() => undefined);
  }

  function release(): void {
    if (releasing) clearImmediate(releasing);
    releasing = undefined;
    if (held.length > 0) void write(takeHeld());
  }

  function stream(event: "token" | "reasoning", piece: TextPiece): Promise<void> | undefined {
    const last = held.length < PIECES_AT_ONCE ? undefined : held.at(-1);
    if (last?.event === event && last.data["message_id"] === piece.message_id) last.data["content"] += piece.content;
    else held.push(number(event, { ...piece }));
    if (!hasSpoken) {
      hasSpoken = true;
      return write(takeHeld());
    }
    releasing ??= setImmediate(release);
    return undefined;
  }

  return {
    number,
    takeHeld,
    release,
    hold: (event, data) => void held.push(number(event, data)),
    stream,
    emit: (event, data) => void write([...takeHeld(), number(event, data)]),
    flush: async () => {
      release();
      await saver.flush(claimed.thread_id, lease);
    },
  };
}
