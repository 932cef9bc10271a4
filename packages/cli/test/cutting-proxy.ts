import { type AddressInfo, connect, createServer, type Socket } from "node:net";

export interface CuttingProxy {
  readonly url: string;
  /** How many bytes of answers the n-th connection from now on lets through before it is cut; undefined for all. */
  cut(limits: readonly (number | undefined)[]): void;
  /** Bytes of answers that went through. */
  readonly passed: number;
  close(): Promise<void>;
}

/** Stands between a client and a server and loses connections at a given byte, as networks do. */
export async function startCuttingProxy(target: string): Promise<CuttingProxy> {
  const { hostname, port } = new URL(target);
  const sockets = new Set<Socket>();
  let limits: (number | undefined)[] = [];
  let passed = 0;

  const server = createServer((near) => {
    const far = connect(Number(port), hostname);
    let left = limits.shift() ?? Number.POSITIVE_INFINITY;
    for (const socket of [near, far]) {
      sockets.add(socket);
      socket.on("close", () => sockets.delete(socket));
      socket.on("error", () => socket.destroy()); // the other side sees its end
    }
    near.pipe(far);
    near.on("close", () => far.destroy());
    far.on("data", (bytes) => {
      const part = bytes.subarray(0, left);
      passed += part.length;
      left -= part.length;
      near.write(part, () => left <= 0 && near.destroySoon());
      if (left <= 0) far.destroy();
    });
    far.on("end", () => near.end());
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    cut: (next) => {
      limits = [...next];
    },
    get passed() {
      return passed;
    },
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        for (const socket of sockets) socket.destroy();
      }),
  };
}
