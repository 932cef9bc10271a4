import { once } from "node:events";
import { createServer, type ServerResponse } from "node:http";
import { type AddressInfo, connect, type Socket } from "node:net";
import { setTimeout as delay } from "node:timers/promises";
import { getRequestListener } from "@hono/node-server";
import { expect, it, onTestFinished } from "vitest";
import { createApp } from "../../src/http/app.ts";
import { until } from "./until.ts";

const STALL_MS = 1_000;
/** More than a socket's own buffers take. */
const LARGE = new Uint8Array(20_000_000);
const REQUEST = (path: string) => `GET ${path} HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n`;

async function start() {
  const app = createApp({
    handlers: {
      getDocs: async () => new Response(LARGE),
      getMetrics: async () => {
        await delay(3 * STALL_MS);
        return new Response("late");
      },
      getReadiness: async () => ({ ready: true, reasons: [] }),
    },
    idempotency: { once: () => Promise.reject(new Error("not asked")) },
    stall_ms: STALL_MS,
    onError: () => undefined,
  });
  const answers: ServerResponse[] = [];
  const server = createServer(getRequestListener(app.fetch, { overrideGlobalObjects: false }));
  server.prependListener("request", (_, answer) => answers.push(answer));
  await once(server.listen(0, "127.0.0.1"), "listening");
  onTestFinished(() => {
    server.closeAllConnections();
    server.close();
  });
  const socket = connect((server.address() as AddressInfo).port, "127.0.0.1");
  onTestFinished(() => void socket.destroy());
  return { answers, socket };
}

function textOf(socket: Socket): () => string {
  let text = "";
  socket.setEncoding("latin1").on("data", (part) => {
    text += part;
  });
  return () => text;
}

it("a reader that takes nothing of an answer is cut off, and what waited for it is gone", async () => {
  const { answers, socket } = await start();
  socket.pause().write(REQUEST("/docs"));
  await until("the answer", async () => answers[0]);
  const [answer] = answers as [ServerResponse];
  await until("the end of its connection", async () => (answer.closed ? true : undefined));
  expect(answer.writableFinished).toBe(false);
});

it("one that reads slowly gets all of it", async () => {
  const { socket } = await start();
  let size = 0;
  socket.write(REQUEST("/docs"));
  socket.on("data", (part) => {
    size += part.length;
    socket.pause();
    setTimeout(() => socket.resume(), 5);
  });
  await until("all of it", async () => (size > LARGE.length ? true : undefined));
});

it("who waits for an answer, or between two, is not cut off, also where requests were sent ahead", {
  tags: "long",
}, async () => {
  const { socket } = await start();
  const text = textOf(socket);
  socket.write(REQUEST("/ready") + REQUEST("/metrics"));
  await until("the late answer", async () => (text().includes("late") ? true : undefined));
  await delay(2 * STALL_MS);
  socket.write(REQUEST("/ready"));
  await until("another", async () => (text().split("HTTP/1.1 200").length === 4 ? true : undefined));
});
