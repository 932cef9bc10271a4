export interface CommandOutput {
  /** A place for one stream's bytes: each stream is decoded by itself, or characters cut in two would mix. */
  stream(): (chunk: Uint8Array) => void;
  /** To be called once, when all streams have ended; with what was dropped before it came here. */
  end(droppedBefore?: number): { readonly output: string; readonly truncated: boolean };
}

export interface OutputOptions {
  readonly limitBytes: number;
  readonly onOutput?: ((text: string) => void) | undefined;
}

/** Keeps the first bytes up to the limit and counts the rest, which is read all the same: a full pipe stops a command. */
export function createCommandOutput({ limitBytes, onOutput }: OutputOptions): CommandOutput {
  const parts: string[] = [];
  const flushes: (() => string)[] = [];
  let kept = 0;
  let dropped = 0;

  const add = (text: string) => {
    if (text === "") return;
    parts.push(text);
    onOutput?.(text);
  };

  return {
    stream() {
      const decoder = new TextDecoder("utf-8", { ignoreBOM: true });
      flushes.push(() => decoder.decode());
      return (chunk) => {
        const taken = chunk.subarray(0, limitBytes - kept);
        kept += taken.length;
        dropped += chunk.length - taken.length;
        add(decoder.decode(taken, { stream: true }));
      };
    },
    end(droppedBefore = 0) {
      dropped += droppedBefore;
      // A character that the limit cut in two is left out; one that the command left unfinished shows as U+FFFD.
      if (dropped === 0) for (const flush of flushes) add(flush());
      else add(`\n[output cut after ${limitBytes} bytes; ${dropped} more were dropped]`);
      return { output: parts.join(""), truncated: dropped > 0 };
    },
  };
}
