import { randomUUID } from "node:crypto";
import pg from "pg";
import type { News, WakeUps } from "./wake-ups.ts";

const CHANNEL = "cognition_events";
/** Every NOTIFY takes one lock of the whole server at its commit: a node that sent one per event would slow all writers. */
const AT_MOST_EVERY_MS = 20;
/** PostgreSQL refuses a payload of 8,000 bytes. */
const PAYLOAD_BYTES = 7_900;
const CONNECT_TIMEOUT_MS = 10_000;
/** Nobody waits for an answer here, so only the kernel can find out that the other end is gone; by itself it asks after two hours. */
const KEEP_ALIVE_MS = 10_000;
const FIRST_RETRY_MS = 100;
const LAST_RETRY_MS = 5_000;

export const SEND_NOTICES = `select pg_notify('${CHANNEL}', notice) from jsonb_array_elements_text($1::jsonb) each(notice)`;

export interface PostgresWakeUpsOptions {
  url: string;
  /** Runs SEND_NOTICES with this parameter, outside of any transaction. */
  send: (notices: string) => Promise<unknown>;
}

/** LISTEN on a connection of its own, since a pool would hand it to others and close it when idle. */
export function createPostgresWakeUps({ url, send }: PostgresWakeUpsOptions): WakeUps {
  const node = randomUUID();
  const sender = createSender(node, send);
  const listeners = new Set<(news: News) => void>();
  const tell = (news: News) => {
    for (const onNews of listeners) onNews(news);
  };
  let connection: Connection | undefined;

  return {
    send: sender.send,
    listen: (onNews) => {
      listeners.add(onNews);
      connection ??= keepListening(url, (notice) => {
        if (notice === "connected") return tell("any");
        const [from, ...session_ids] = readNotice(notice);
        if (from !== node) tell(session_ids);
      });
      return () => listeners.delete(onNews);
    },
    close: async () => {
      listeners.clear();
      sender.close();
      await connection?.close();
    },
  };
}

function createSender(node: string, send: PostgresWakeUpsOptions["send"]) {
  const waiting = new Set<string>();
  let timer: NodeJS.Timeout | undefined;
  let lastSent = 0;
  let closed = false;

  function wait(): void {
    timer = setTimeout(flush, Math.max(0, lastSent + AT_MOST_EVERY_MS - performance.now()));
  }

  function flush(): void {
    // A timer counts from the beginning of a turn of the loop, so one that a long turn has set comes early.
    if (performance.now() < lastSent + AT_MOST_EVERY_MS) {
      wait();
      return;
    }
    timer = undefined;
    lastSent = performance.now();
    const notices = packNotices(node, [...waiting]);
    waiting.clear();
    // A hint that was not sent: followers elsewhere find the events when they look, and the write itself stands.
    send(JSON.stringify(notices)).catch(() => undefined);
  }

  return {
    send: (session_id: string): void => {
      if (closed) return;
      waiting.add(session_id);
      if (timer === undefined) wait();
    },
    close: (): void => {
      closed = true;
      clearTimeout(timer);
    },
  };
}

/** Each notice is a JSON array: the sending node, then session ids. */
export function packNotices(node: string, session_ids: readonly string[]): string[] {
  const notices: string[][] = [];
  let room = 0;
  for (const id of session_ids) {
    const bytes = Buffer.byteLength(JSON.stringify(id)) + 1;
    if (bytes > room) {
      notices.push([node]);
      room = PAYLOAD_BYTES - Buffer.byteLength(JSON.stringify([node]));
    }
    notices.at(-1)?.push(id);
    room -= bytes;
  }
  return notices.map((notice) => JSON.stringify(notice));
}

/** Whoever may log in to the database may send one, with any text in it: what is not ours says nothing. */
function readNotice(notice: string): string[] {
  try {
    const told: unknown = JSON.parse(notice);
    return Array.isArray(told) ? told.filter((one) => typeof one === "string") : [];
  } catch {
    return [];
  }
}

interface Connection {
  close(): Promise<void>;
}

/** Connects, and again whenever the connection is lost; "connected" says that notices before it may have been missed. */
function keepListening(url: string, onNotice: (notice: string) => void): Connection {
  let client: pg.Client | undefined;
  let timer: NodeJS.Timeout | undefined;
  let retryMs = FIRST_RETRY_MS;
  let closed = false;

  async function connect(): Promise<void> {
    const mine = new pg.Client({
      connectionString: url,
      application_name: "cognition wake-ups",
      connectionTimeoutMillis: CONNECT_TIMEOUT_MS,
      keepAlive: true,
      keepAliveInitialDelayMillis: KEEP_ALIVE_MS,
    });
    client = mine;
    mine.on("notification", ({ payload }) => onNotice(payload ?? ""));
    mine.on("error", () => undefined); // followed by "end"
    mine.on("end", () => retry(mine));
    try {
      await mine.connect();
      await mine.query(`listen ${CHANNEL}`);
      retryMs = FIRST_RETRY_MS;
      onNotice("connected");
    } catch {
      // The server is away. Whoever reads or writes is told so; a hint only comes back with it.
      await mine.end().catch(() => undefined);
      retry(mine);
    }
  }

  function retry(lost: pg.Client): void {
    if (closed || client !== lost) return;
    client = undefined;
    timer = setTimeout(() => {
      connecting = connect();
    }, retryMs);
    retryMs = Math.min(retryMs * 2, LAST_RETRY_MS);
  }

  let connecting = connect();
  return {
    close: async () => {
      closed = true;
      clearTimeout(timer);
      await connecting;
      await client?.end().catch(() => undefined);
    },
  };
}
