import type { ServerResponse } from "node:http";
import { HEARTBEAT } from "./sse.ts";

export interface StreamOptions {
  /** After so much silence a comment is sent, or proxies would take the connection for dead. */
  readonly heartbeat_ms: number;
  /** A reader that takes nothing for so long is cut off; it can come back with the last id it saw. */
  readonly stall_ms: number;
  /** The log could not be read: the reader finds the end of its stream, and comes back with its last id. */
  readonly onError: (error: unknown) => void;
}

/** The text of a stream, piece by piece. `return` ends it at once, also while it waits for what comes next. */
export interface TextSource extends AsyncIterator<string, undefined> {
  return(): Promise<IteratorResult<string, undefined>>;
  /** Resolves when it has ended, whoever ended it. */
  readonly ended: Promise<void>;
}

/**
 * Writes a source to a socket as fast as the other side reads, and no faster: what it has not taken waits in the log,
 * not here. Ends when the source does; a client that goes away ends the source.
 */
export function writeToSocket(source: TextSource, outgoing: ServerResponse, options: StreamOptions): void {
  let gone = false;
  let onDrain: (() => void) | undefined;
  let stall: NodeJS.Timeout | undefined;
  // The socket keeps the process alive for as long as it is open; a heartbeat alone must not.
  const silence = setTimeout(beat, options.heartbeat_ms).unref();

  /** A comment behind what is not taken yet would say nothing, and add to it. */
  function beat(): void {
    if (!outgoing.writableNeedDrain) outgoing.write(HEARTBEAT);
    silence.refresh();
  }

  function leave(): void {
    gone = true;
    clearTimeout(silence);
    drained();
    void source.return();
  }

  function drained(): void {
    clearTimeout(stall);
    onDrain?.();
    onDrain = undefined;
  }

  function untilDrained(): Promise<void> {
    stall = setTimeout(() => outgoing.destroy(), options.stall_ms);
    return new Promise((resolve) => {
      onDrain = resolve;
    });
  }

  async function pump(): Promise<void> {
    for (;;) {
      const step = await source.next();
      if (step.done || gone) break;
      silence.refresh();
      if (!outgoing.write(step.value)) await untilDrained();
    }
    clearTimeout(silence);
    outgoing.end();
  }

  outgoing.on("close", leave).on("error", leave).on("drain", drained);
  // Who went before this was asked to write says "close" no more.
  if (outgoing.destroyed) leave();
  pump().catch((error) => {
    options.onError(error);
    outgoing.destroy();
    leave();
  });
}
