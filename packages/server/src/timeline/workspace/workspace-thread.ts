import { Worker } from "node:worker_threads";
import { AppError, type ErrorCode } from "@cognition/contract";
import { messageOf } from "../../file/error-text.ts";
import type { ReplyMessage, RequestName, WorkspaceRequests } from "./workspace-request.ts";

const IS_SOURCE = import.meta.url.endsWith(".ts");
// Beside this file, as source and as what is built from it.
const WORKER = new URL(IS_SOURCE ? "./workspace-worker.ts" : "./workspace-worker.js", import.meta.url);
const OPTIONS = IS_SOURCE ? { execArgv: ["--conditions=cognition-source"] } : {};

/**
 * A thread that looks at files and writes them. Its calls block, which is several times faster than Node's own way of not
 * blocking, and nothing else of this process waits for them.
 */
export interface WorkspaceThread {
  ask<N extends RequestName>(name: N, body: WorkspaceRequests[N]["in"]): Promise<WorkspaceRequests[N]["out"]>;
  close(): Promise<void>;
}

interface Waiting {
  resolve(result: unknown): void;
  reject(error: Error): void;
}

export function createWorkspaceThread(): WorkspaceThread {
  const waiting = new Map<number, Waiting>();
  let worker: Worker | undefined;
  let last = 0;
  let closed = false;

  function fail(error: unknown): void {
    worker = undefined;
    for (const { reject } of waiting.values()) reject(closed ? shuttingDown() : broken(error));
    waiting.clear();
  }

  function start(): Worker {
    const started = new Worker(WORKER, OPTIONS);
    started.unref();
    started.on("message", (reply: ReplyMessage) => {
      const asked = waiting.get(reply.id);
      waiting.delete(reply.id);
      // Not while it is being ended: whoever waits for that would wait on alone, and the process end before it.
      if (waiting.size === 0 && !closed) started.unref();
      if ("error" in reply) asked?.reject(toError(reply.error));
      else asked?.resolve(reply.result);
    });
    started.on("error", fail);
    return started;
  }

  // Now, so that nobody has to wait for it later.
  worker = start();
  return {
    ask: (name, body) => {
      if (closed) return Promise.reject(shuttingDown());
      worker ??= start();
      worker.ref();
      const id = ++last;
      const { promise, resolve, reject } = Promise.withResolvers<unknown>();
      waiting.set(id, { resolve, reject });
      worker.postMessage({ id, name, body });
      return promise as Promise<WorkspaceRequests[typeof name]["out"]>;
    },
    close: async () => {
      closed = true;
      const ending = worker;
      fail(new Error("it was closed"));
      await ending?.terminate();
    },
  };
}

/** Whoever is told so has left its run to another node already. */
function shuttingDown(): AppError {
  return new AppError("draining", "The node is shutting down");
}

function toError({
  code,
  message,
  details,
}: {
  code?: string | undefined;
  message: string;
  details?: unknown;
}): AppError {
  if (code === undefined) return broken(new Error(message));
  return new AppError(
    code as ErrorCode,
    message,
    details === undefined ? {} : { details: details as Record<string, unknown> },
  );
}

function broken(cause: unknown): AppError {
  const reason = messageOf(cause);
  return new AppError("internal", `The files of a workspace could not be read or written: ${reason}`, { cause });
}
