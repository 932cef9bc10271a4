import { Agent, get, type IncomingMessage } from "node:http";

export interface LoadStreams {
  /** Of each stream, the last id it saw; every one was one more than the one before. */
  readonly last: readonly number[];
  /** What went wrong, on any of them. */
  readonly faults: readonly string[];
  /** Every stream has come to the end; rejects as soon as something goes wrong on one. */
  readonly finished: Promise<void>;
  close(): void;
}

const ID = /^id: (\d+)$/gm;

/** So many clients of one node, spread over its sessions. They look at nothing but ids: it is the server that is measured. */
export async function openLoadStreams(
  url: string,
  session_ids: readonly string[],
  { count, until }: { count: number; until: number },
): Promise<LoadStreams> {
  const agent = new Agent({ maxSockets: Number.POSITIVE_INFINITY });
  const last = Array.from({ length: count }, () => 0);
  const faults: string[] = [];
  const { promise: finished, resolve: finish, reject: fail } = Promise.withResolvers<void>();
  finished.catch(() => undefined); // told to whoever waits
  let unfinished = count;
  let closing = false;

  function fault(stream: number, what: string): void {
    if (closing) return;
    faults.push(`stream ${stream}: ${what}`);
    fail(new Error(faults[0]));
  }

  function see(stream: number, id: number): void {
    const before = last[stream] as number;
    // The first block names the position, which is no event.
    if (id === 0 && before === 0) return;
    if (id !== before + 1) fault(stream, `${id} came after ${before}`);
    last[stream] = id;
    if (id === until && --unfinished === 0) finish();
  }

  function read(stream: number, response: IncomingMessage): void {
    let rest = "";
    response.setEncoding("latin1");
    response.on("data", (text: string) => {
      const whole = rest + text;
      const end = whole.lastIndexOf("\n") + 1;
      rest = whole.slice(end);
      for (const [, id] of whole.slice(0, end).matchAll(ID)) see(stream, Number(id));
    });
    response.on("close", () => fault(stream, `was closed by the server after event ${last[stream]}`));
  }

  function open(stream: number): Promise<void> {
    const session_id = session_ids[stream % session_ids.length];
    const headers = { Accept: "text/event-stream" };
    return new Promise((resolve, reject) => {
      const request = get(`${url}/sessions/${session_id}/events`, { agent, headers }, (response) => {
        if (response.statusCode !== 200) reject(new Error(`stream ${stream}: ${response.statusCode}`));
        read(stream, response);
        resolve();
      });
      request.on("error", (error) => {
        fault(stream, error.message);
        reject(error);
      });
    });
  }

  // A few at a time, as clients come: a thousand connections in one moment only measure the listening queue.
  const AT_ONCE = 50;
  for (let first = 0; first < count; first += AT_ONCE) {
    const some = Array.from({ length: Math.min(AT_ONCE, count - first) }, (_, n) => open(first + n));
    await Promise.all(some);
  }
  return {
    last,
    faults,
    finished,
    close: () => {
      closing = true;
      agent.destroy();
    },
  };
}
