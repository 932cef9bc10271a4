import type { EventData } from "@cognition/contract";
import { type FollowParts, follow } from "./follow.ts";
import type { SessionEvent } from "./session-event.ts";

/** How a run came to rest: at its end, or where it asks a human. */
export type RunRest =
  | { readonly event: "done"; readonly data: EventData<"done"> }
  | {
      readonly event: "interrupt";
      readonly data: EventData<"interrupt">;
    };

/** The events of one run. To be read once. */
export interface RunStream extends AsyncIterable<SessionEvent> {
  /** Known once the server has accepted the message. */
  readonly run_id: string | undefined;
  /** Reads to the end. Undefined where the run had ended before the stream began. */
  rest(): Promise<RunRest | undefined>;
}

export interface RunStreamParts extends Omit<FollowParts, "connect" | "isLast"> {
  readonly run_id?: string | undefined;
  readonly connect: (after: number | undefined, run_id: string | undefined) => Promise<Response | undefined>;
}

export function createRunStream(parts: RunStreamParts): RunStream {
  let run_id = parts.run_id;
  const events = follow({
    ...parts,
    async connect(after) {
      const response = await parts.connect(after, run_id);
      run_id ??= response && runOf(response);
      return response;
    },
    isLast: ({ event }) => event === "done" || event === "interrupt",
  });
  return {
    get run_id() {
      return run_id;
    },
    [Symbol.asyncIterator]: () => events,
    async rest() {
      let last: SessionEvent | undefined;
      for await (const event of events) last = event;
      return last?.event === "done" || last?.event === "interrupt" ? last : undefined;
    },
  };
}

/** `Content-Location: /sessions/{id}/runs/{run_id}` */
function runOf(response: Response): string | undefined {
  const run = /\/runs\/([^/?]+)/.exec(response.headers.get("content-location") ?? "")?.[1];
  return run === undefined ? undefined : decodeURIComponent(run);
}
