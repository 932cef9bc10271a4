import { isDeepStrictEqual } from "node:util";
import { isAppError } from "@cognition/contract";
import type { EventStream } from "./event-stream.ts";
import type { Authenticate, Caller } from "./guard.ts";

export interface WatchOptions {
  readonly authenticate: Authenticate;
  readonly headers: Headers;
  /** Whom the stream was opened for. */
  readonly caller: Caller;
  readonly every_ms: number;
}

/**
 * A stream may be open for days, and a request is let in only once: so whoever would not be let in any more, by the same
 * credential, finds its stream ended, comes back and is told why.
 */
export function watchStream({ source }: EventStream, options: WatchOptions): void {
  let over = false;
  let timer = wait();

  // The socket keeps the process alive for as long as it is open.
  function wait(): NodeJS.Timeout {
    return setTimeout(look, options.every_ms).unref();
  }

  async function look(): Promise<void> {
    const stays = await isStillLetIn(options);
    if (over) return;
    if (stays) timer = wait();
    else void source.return();
  }

  void source.ended.then(() => {
    over = true;
    clearTimeout(timer);
  });
}

async function isStillLetIn({ authenticate, headers, caller }: WatchOptions): Promise<boolean> {
  try {
    return isDeepStrictEqual(await authenticate(headers), caller);
  } catch (error) {
    // Nothing of the log comes through while the storage is away, and a page that found 503 would not come back.
    return isAppError(error, "storage_unavailable");
  }
}
