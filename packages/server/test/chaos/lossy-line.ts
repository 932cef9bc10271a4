import { once } from "node:events";
import { type AddressInfo, connect, createServer, type Socket } from "node:net";

export interface LossyLine {
  /** The database, as the nodes reach it. */
  readonly url: string;
  /**
   * The next commit is done, and its answer lost together with the connection: who asked for it can't know. Resolves when that has
   * happened, or after so long, if nobody commits.
   */
  loseAnswer(within_ms: number): Promise<void>;
  close(): Promise<void>;
}

/** The end of a flight that commits: a message of its own, which ends with a zero byte. */
const COMMIT = Buffer.from("commit\0");
const COMMITTED = Buffer.from("COMMIT\0");
/** What the commit of a transaction that failed comes to. */
const ROLLED_BACK = Buffer.from("ROLLBACK\0");

/** Between nodes and their PostgreSQL. */
export async function startLossyLine(databaseUrl: string): Promise<LossyLine> {
  const { port, hostname } = new URL(databaseUrl);
  const sockets = new Set<Socket>();
  let waiting: (() => void) | undefined;

  function pass(node: Socket): void {
    const server = connect(Number(port), hostname);
    let loses: (() => void) | undefined;
    node.on("data", (chunk: Buffer) => {
      if (waiting && !loses && chunk.includes(COMMIT)) {
        loses = waiting;
        waiting = undefined;
      }
      server.write(chunk);
    });
    server.on("data", (chunk: Buffer) => {
      if (!loses) return void node.write(chunk);
      if (chunk.includes(COMMITTED) || chunk.includes(ROLLED_BACK)) server.destroy();
    });
    for (const [socket, other] of [
      [node, server],
      [server, node],
    ] as const) {
      sockets.add(socket);
      socket.on("error", () => undefined); // "close" follows
      socket.on("close", () => {
        sockets.delete(socket);
        other.destroy();
        loses?.();
      });
    }
  }

  const line = createServer(pass).listen(0, "127.0.0.1");
  await once(line, "listening");
  const url = new URL(databaseUrl);
  url.port = String((line.address() as AddressInfo).port);
  return {
    url: url.href,
    loseAnswer: (within_ms) => {
      const { promise, resolve } = Promise.withResolvers<void>();
      waiting = resolve;
      const timer = setTimeout(resolve, within_ms);
      return promise.finally(() => {
        clearTimeout(timer);
        waiting = undefined;
      });
    },
    close: async () => {
      for (const socket of sockets) socket.destroy();
      await new Promise((resolve) => line.close(resolve));
    },
  };
}
