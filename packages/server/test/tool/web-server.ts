import { createServer, type RequestListener, type Server } from "node:http";
import type { AddressInfo } from "node:net";

export interface WebServer {
  url: string;
  port: number;
  close(): Promise<void>;
}

/** A real server on loopback, on one of its many addresses. */
export async function startWebServer(listener: RequestListener, host = "127.0.0.1", port = 0): Promise<WebServer> {
  const server: Server = createServer(listener);
  await new Promise<void>((resolve, reject) => {
    server.once("error", reject);
    server.listen(port, host, resolve);
  });
  const address = server.address() as AddressInfo;
  return {
    url: `http://${host}:${address.port}`,
    port: address.port,
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
}
