import { isAppError } from "@cognition/contract";
import type { Client, LogEvent, RunStream, SessionEvent } from "../../../client/src/index.ts";
import { REQUESTS, type RequestKind } from "../crash/requests.ts";

/** A message that a server has accepted, as its sender remembers it. */
export interface Accepted {
  run_id: string;
  content: string;
}

type Asked = Extract<LogEvent, { event: "interrupt" }>;

/** What one client did to one session, and all that it was shown of it. */
export interface Customer {
  readonly session_id: string;
  /** In the order in which they were accepted. */
  readonly accepted: readonly Accepted[];
  /** The session's log, as it came over however many connections. */
  readonly log: readonly LogEvent[];
  /** What came over the streams of single runs. */
  readonly streams: readonly (readonly LogEvent[])[];
  readonly reconnects: number;
  /** Sends it, reads its run to the end, and answers whatever the run asks. */
  say(kind: RequestKind): Promise<void>;
  /** Sends several, each once the one before it was accepted, and then reads them. */
  queue(kinds: readonly RequestKind[]): Promise<void>;
  /** Stops the run in the middle of a tool. */
  sayAndAbort(kind: RequestKind): Promise<void>;
  /** Reads up to this event, and then no more. */
  readUntil(id: number): Promise<void>;
  leave(): void;
}

export interface CustomerOptions {
  client: Client;
  session_id: string;
  /** Unique. */
  newNote: () => string;
  /** Where commands of the agent write. */
  commands: string;
}

export function createCustomer({ client, session_id, newNote, commands }: CustomerOptions): Customer {
  const accepted: Accepted[] = [];
  const log: LogEvent[] = [];
  const streams: LogEvent[][] = [];
  const leaving = new AbortController();
  let reconnects = 0;
  let arrived: () => void = () => undefined;

  const following = followLog();
  following.catch(() => undefined); // told by `readUntil`

  async function followLog(): Promise<void> {
    const onReconnect = () => void reconnects++;
    for await (const event of client.followEvents(session_id, { after: 0, signal: leaving.signal, onReconnect })) {
      log.push(logged(event));
      arrived();
    }
  }

  function contentOf(kind: RequestKind): string {
    return REQUESTS[kind](newNote(), commands);
  }

  /** Notes the run when it is known: the answer's first byte is the promise. */
  async function read(stream: RunStream, content: string | undefined, onEvent?: (event: LogEvent) => void) {
    const seen: LogEvent[] = [];
    streams.push(seen);
    let noted = content === undefined;
    for await (const event of stream) {
      if (!noted && stream.run_id !== undefined) {
        accepted.push({ run_id: stream.run_id, content: content as string });
        noted = true;
      }
      const one = logged(event);
      seen.push(one);
      onEvent?.(one);
    }
    return seen.at(-1);
  }

  /** What came of a run after it had asked, whoever has answered or stopped it. */
  function readOn({ id: after, data }: Asked): Promise<LogEvent | undefined> {
    return read(client.followRun(session_id, String(data.run_id), { after }), undefined);
  }

  /** A human who approves what he is asked for, and tells what became of a call that nobody knows of. */
  async function answerAll(last: LogEvent | undefined): Promise<void> {
    let open = last;
    while (open?.event === "interrupt") {
      const decisions = open.data.interrupts.map(({ id, allowed_decisions }) =>
        allowed_decisions.includes("approve")
          ? { id, type: "approve" as const }
          : { id, type: "respond" as const, message: "outcome_unknown: I looked" },
      );
      const asked = open;
      open = await read(client.resumeAndFollow(session_id, { decisions }), undefined).catch((error) => {
        // The node died between the commit and its answer: what is asked again is told that it was answered.
        if (!isAppError(error, "already_answered")) throw error;
        return readOn(asked);
      });
    }
  }

  return {
    session_id,
    accepted,
    log,
    streams,
    get reconnects() {
      return reconnects;
    },
    say: async (kind) => {
      const content = contentOf(kind);
      await answerAll(await read(client.sendMessage(session_id, content), content));
    },
    queue: async (kinds) => {
      const runs: string[] = [];
      for (const kind of kinds) {
        const content = contentOf(kind);
        const { id } = await client.submitMessage(session_id, content);
        accepted.push({ run_id: id, content });
        runs.push(id);
      }
      for (const run_id of runs) await read(client.followRun(session_id, run_id), undefined);
    },
    sayAndAbort: async (kind) => {
      const content = contentOf(kind);
      let aborting: Promise<unknown> | undefined;
      const last = await read(client.sendMessage(session_id, content), content, ({ event }) => {
        if (event === "tool_call") aborting ??= client.abortSession(session_id);
      });
      await aborting;
      // An abort that came late has ended what waits: nobody is to answer that.
      await answerAll(aborting && last?.event === "interrupt" ? await readOn(last) : last);
    },
    readUntil: async (id) => {
      while ((log.at(-1)?.id ?? 0) < id) {
        const { promise, resolve } = Promise.withResolvers<void>();
        arrived = resolve;
        await Promise.race([promise, following]);
      }
      leaving.abort();
    },
    leave: () => leaving.abort(),
  };
}

/** No log is ever shorter than what a client has seen of it, so nobody may be told to begin anew. */
function logged(event: SessionEvent): LogEvent {
  if (event.event === "reset") throw new Error(`the server's log ends at ${event.data.head}, before what was seen`);
  return event;
}
