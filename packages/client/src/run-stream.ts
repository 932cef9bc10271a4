import type { EventData } from "@cognition/contract";
import { AppError } from "@cognition/contract/app-error";
import { type FollowParts, follow } from "./follow.ts";
import type { LogEvent, SessionEvent } from "./session-event.ts";

/** How a run came to rest: at its end, or where it asks a human. */
export type RunRest =
  | { readonly event: "done"; readonly data: EventData<"done"> }
  | {
      readonly event: "interrupt";
      readonly data: EventData<"interrupt">;
    };

/** The events of one run. To be read once: the request is made when reading begins. */
export interface RunStream extends AsyncIterable<SessionEvent> {
  /** Known once the server has accepted the message. */
  readonly run_id: string | undefined;
  /** Reads to the end. Undefined where the run had ended before the stream began. */
  rest(): Promise<RunRest | undefined>;
}

export interface RunStreamParts extends Omit<FollowParts, "connect" | "isLast"> {
  readonly run_id?: string | undefined;
  readonly connect: (after: number | undefined, run_id: string | undefined) => Promise<Response | undefined>;
  /** Whether a question is still open; where it is left out, the server ends the stream at one that is. */
  readonly isOpen?: (question: LogEvent) => Promise<boolean>;
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
    isLast: (event) =>
      event.event === "done" || (event.event === "interrupt" && (parts.isOpen === undefined || parts.isOpen(event))),
  });
  let taken = false;
  const stream: RunStream = {
    get run_id() {
      return run_id;
    },
    [Symbol.asyncIterator]() {
      // A second reader would take some of the first one's events, or find none after it has left.
      if (taken) throw readAlready(run_id);
      taken = true;
      return events;
    },
    async rest() {
      let last: SessionEvent | undefined;
      for await (const event of stream) last = event;
      return last?.event === "done" || last?.event === "interrupt" ? last : undefined;
    },
  };
  return stream;
}

function readAlready(run_id: string | undefined): AppError {
  const message = "The events of this run are being read already, or were; followRun with its id gives them again.";
  return new AppError("validation_failed", message, { details: { run_id: run_id ?? null } });
}

/** `Content-Location: /sessions/{id}/runs/{run_id}` */
function runOf(response: Response): string | undefined {
  const run = /\/runs\/([^/?]+)/.exec(response.headers.get("content-location") ?? "")?.[1];
  return run === undefined ? undefined : decodeURIComponent(run);
}
