export interface Interrupts {
  /** At each Ctrl-C. */
  notice(): void;
  /** A new line was entered, or the run has ended: the next one counts as the first again. */
  forget(): void;
  readonly leaving: boolean;
  /** Aborts when the user leaves: a server that is silent must not keep him. */
  readonly signal: AbortSignal;
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
  const left = new AbortController();
  const leave = () => {
    left.abort();
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
    signal: left.signal,
    get leaving() {
      return left.signal.aborted;
    },
  };
}
