import { type AddressInfo, connect, createServer, type Socket } from "node:net";

export interface SilentProxy {
  readonly url: string;
  /** From now on nothing passes over the connections that there are, and nobody is told. */
  cut(): void;
  /** Nor over new ones, until told otherwise. */
  cutAll(cut: boolean): void;
  close(): Promise<void>;
}

/** In front of a server: can be cut as a line is, with both ends left waiting. */
export async function startSilentProxy(url: string): Promise<SilentProxy> {
  const target = new URL(url);
  const upstream = { port: Number(target.port), host: target.hostname };
  const sockets = new Set<Socket>();
  let line = { isCut: false };
  let allCut = false;
  const proxy = createServer((client) => {
    const mine = allCut ? { isCut: true } : line;
    const server = connect(upstream.port, upstream.host);
    const pass = (from: Socket, to: Socket) => {
      sockets.add(from);
      from.on("data", (chunk) => void (mine.isCut || to.write(chunk)));
      from.on("error", () => undefined); // "close" follows
      from.on("close", () => {
        sockets.delete(from);
        if (!mine.isCut) to.destroy();
      });
    };
    pass(client, server);
    pass(server, client);
  });
  await new Promise<void>((resolve) => proxy.listen(0, "127.0.0.1", resolve));
  target.port = String((proxy.address() as AddressInfo).port);
  const cut = () => {
    line.isCut = true;
    line = { isCut: false };
  };
  return {
    url: target.href,
    cut,
    cutAll: (isCut) => {
      allCut = isCut;
      if (isCut) cut();
    },
    close: async () => {
      for (const socket of sockets) socket.destroy();
      await new Promise((resolve) => proxy.close(resolve));
    },
  };
}
