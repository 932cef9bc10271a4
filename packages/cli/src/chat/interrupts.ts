export interface Interrupts {
  /** At each Ctrl-C. */
  notice(): void;
  /** A new line was entered, or the run has ended: the next one counts as the first again. */
  forget(): void;
  readonly leaving: boolean;
  /** Aborts when the user leaves: a server that is silent must not keep him. */
  readonly signal: AbortSignal;
  /** Resolves then. */
  readonly left: Promise<void>;
  leave(): void;
}

export interface InterruptsOptions {
  /** Stops what runs; false where nothing does. */
  readonly stop: () => boolean;
  readonly onLeave: () => void;
  readonly say: (text: string) => void;
}

/** The first Ctrl-C stops the agent and not the conversation; the second one leaves. */
export function createInterrupts({ stop, onLeave, say }: InterruptsOptions): Interrupts {
  let count = 0;
  const leaving = new AbortController();
  const { promise: left, resolve } = Promise.withResolvers<void>();
  const leave = () => {
    leaving.abort();
    resolve();
    onLeave();
  };
  return {
    notice() {
      count += 1;
      if (count === 1)
        say(stop() ? "\n  (stopping the agent; once more to leave)" : "\n  (once more, or Ctrl-D, to leave)");
      else leave();
    },
    forget() {
      count = 0;
    },
    leave,
    left,
    signal: leaving.signal,
    get leaving() {
      return leaving.signal.aborted;
    },
  };
}
