import type { StoredEvent } from "@cognition/contract";
import type { EventLog } from "@cognition/thread";
import type { TextSource } from "./socket-stream.ts";
import { eventFrame } from "./sse.ts";

export interface EventSourceOptions {
  readonly log: Pick<EventLog, "followEventBatches">;
  readonly session_id: string;
  readonly after: number;
  /** The log's end, where what came before it may be sent as this process has it. */
  readonly head?: number | undefined;
  /** Sent before anything of the log. */
  readonly opening: string;
  readonly accepts: (event: StoredEvent) => boolean;
  /** Nothing follows an event for which this is true. */
  readonly closes: (event: StoredEvent) => boolean;
}

/** What is written at a time: a page of the log may hold megabytes, and a socket should not. */
const PIECE_LENGTH = 64 * 1024;

/** The log as the text of a stream. Follows from its position on, so nothing that comes before the first read is lost. */
export function createEventSource(options: EventSourceOptions): TextSource {
  const { session_id, after, head } = options;
  const follow = { session_id, after, ...(head !== undefined && { head }) };
  const batches = options.log.followEventBatches(follow)[Symbol.asyncIterator]();
  let opening: string | undefined = options.opening;
  let batch: readonly StoredEvent[] = [];
  let at = 0;
  let ended = false;
  const ending = Promise.withResolvers<void>();

  async function end(): Promise<IteratorReturnResult<undefined>> {
    ended = true;
    ending.resolve();
    await batches.return?.();
    return { done: true, value: undefined };
  }

  /** As much of the batch as makes one piece. */
  function take(): string {
    let text = "";
    while (!ended && at < batch.length && text.length < PIECE_LENGTH) {
      const event = batch[at++] as StoredEvent;
      if (options.accepts(event)) text += eventFrame(event);
      // Also one that this reader did not ask to see: whoever wants only tokens still learns that there are no more.
      if (options.closes(event)) void end();
    }
    return text;
  }

  return {
    ended: ending.promise,
    return: end,
    next: async () => {
      if (opening !== undefined) {
        const value = opening;
        opening = undefined;
        return { done: false, value };
      }
      while (!ended) {
        const value = take();
        if (value !== "") return { done: false, value };
        const step = await batches.next();
        if (step.done) break;
        [batch, at] = [step.value, 0];
      }
      return end();
    },
  };
}
