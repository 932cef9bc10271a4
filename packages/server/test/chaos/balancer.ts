import { once } from "node:events";
import { Agent, createServer, type IncomingMessage, request, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";

export interface Balancer {
  readonly url: string;
  /** How many requests went on to another node because the first was not there. */
  readonly passedOn: number;
  close(): Promise<void>;
}

/** In front of all nodes: each request goes to the next of them in turn, and past those that refuse the connection. */
export async function startBalancer(ports: () => readonly number[]): Promise<Balancer> {
  // A connection of its own for each request: a kept one may belong to a process that has died since.
  const agent = new Agent({ keepAlive: false });
  let turn = 0;
  let passedOn = 0;

  async function forward(asked: IncomingMessage, answer: ServerResponse): Promise<void> {
    const body = Buffer.concat(await asked.toArray());
    const nodes = ports();
    const first = turn++;
    for (let tried = 0; tried < nodes.length; tried++) {
      const port = nodes[(first + tried) % nodes.length] as number;
      if (await send(asked, body, answer, port)) return;
      passedOn++;
    }
    answer.writeHead(502, { "Content-Type": "text/plain" }).end("no node is there");
  }

  /** False if nobody has seen the request. */
  function send(asked: IncomingMessage, body: Buffer, answer: ServerResponse, port: number): Promise<boolean> {
    const { promise, resolve } = Promise.withResolvers<boolean>();
    const { method, url, headers } = asked;
    const onward = request({ agent, host: "127.0.0.1", port, method, path: url, headers }, (response) => {
      answer.writeHead(response.statusCode ?? 502, response.headers);
      response.pipe(answer);
      // What was cut must look cut to the client too, not ended.
      response.on("aborted", () => answer.destroy());
      resolve(true);
    });
    answer.on("close", () => onward.destroy());
    onward.on("error", (error: NodeJS.ErrnoException) => {
      const unseen = error.code === "ECONNREFUSED";
      if (!unseen) answer.destroy();
      resolve(!unseen);
    });
    onward.end(body);
    return promise;
  }

  const server = createServer((asked, answer) => {
    forward(asked, answer).catch(() => answer.destroy()); // the client went away while it was sending
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    get passedOn() {
      return passedOn;
    },
    close: async () => {
      server.closeAllConnections();
      server.close();
      agent.destroy();
      await once(server, "close");
    },
  };
}
