export interface Interrupts {
  /** At each Ctrl-C. */
  notice(): void;
  /** A new line was entered, or the run has ended: the next one counts as the first again. */
  forget(): void;
  readonly leaving: boolean;
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
  let leaving = false;
  return {
    notice() {
      count += 1;
      if (count === 1)
        say(stop() ? "\n  (stopping the agent; once more to leave)" : "\n  (once more, or Ctrl-D, to leave)");
      else {
        leaving = true;
        onLeave();
      }
    },
    forget() {
      count = 0;
    },
    leave() {
      leaving = true;
    },
    get leaving() {
      return leaving;
    },
  };
}
