import { type ChildProcessWithoutNullStreams, spawn } from "node:child_process";
import { once } from "node:events";
import { setTimeout as delay } from "node:timers/promises";
import { getDefaultEnvironment } from "@modelcontextprotocol/sdk/client/stdio.js";
import { ReadBuffer, STDIO_DEFAULT_MAX_BUFFER_SIZE, serializeMessage } from "@modelcontextprotocol/sdk/shared/stdio.js";
import type { Transport } from "@modelcontextprotocol/sdk/shared/transport.js";
import { hasCode } from "../file/error-text.ts";

/** Most servers end when their input does. */
const GOODBYE_MS = 2_000;
const TERMINATE_MS = 2_000;
/** For the last of what it wrote, and for whoever it started to end by himself. */
const DRAIN_MS = 1_000;

export interface StdioServer {
  readonly command: string;
  readonly args: readonly string[];
  readonly env: Readonly<Record<string, string>>;
  readonly cwd: string;
  /** Told what it writes to stderr. */
  readonly onLog: (chunk: Buffer) => void;
  /** Told why it is ended from this side, in the middle of its work. */
  readonly onFault: (reason: string) => void;
}

/**
 * A server that is a process, in a session of its own: what it starts in turn (by npx, by a script) is ended with it, and a
 * Ctrl-C at our terminal does not end it in the middle of a call. The SDK's own transport knows only the process itself. Of
 * this process's environment the server sees only what any program needs (PATH, HOME …), never its keys.
 */
export function createStdioTransport({ command, args, env, cwd, onLog, onFault }: StdioServer): Transport {
  const messages = new ReadBuffer();
  let child: ChildProcessWithoutNullStreams | undefined;
  let end: (() => Promise<void>) | undefined;

  const transport: Transport = {
    async start() {
      const started = spawn(command, args, {
        ...{ cwd, env: { ...getDefaultEnvironment(), ...env } },
        ...{ detached: true, stdio: "pipe" },
      });
      // Of a server that is gone: its end tells.
      for (const one of [started, ...started.stdio]) one?.on("error", tell);
      started.stderr.on("data", onLog);
      started.stdout.on("data", read);
      await once(started, "spawn");
      child = started;
      end = follow(started, () => transport.onclose?.());
    },
    async send(message) {
      if (!child?.stdin.writable) throw new Error("Not connected");
      if (!child.stdin.write(serializeMessage(message))) await once(child.stdin, "drain");
    },
    close: async () => end?.(),
  };

  const tell = (error: Error) => transport.onerror?.(error);

  function read(chunk: Buffer): void {
    try {
      messages.append(chunk);
    } catch {
      onFault(`it gave an answer of more than ${STDIO_DEFAULT_MAX_BUFFER_SIZE} bytes`);
      void end?.();
      return;
    }
    while (readMessage());
  }

  /** False once there is no whole line. One that is no message is passed over: servers print all kinds of things. */
  function readMessage(): boolean {
    try {
      const message = messages.readMessage();
      if (message) transport.onmessage?.(message);
      return message !== null;
    } catch (error) {
      tell(error as Error);
      return true;
    }
  }

  return transport;
}

/** Sees to it that nothing is left of a server that has ended, or that is told to with the function that it gives. */
function follow(child: ChildProcessWithoutNullStreams, onEnd: () => void): () => Promise<void> {
  const exited = once(child, "exit");
  const drained = once(child, "close");
  const within = (ms: number, fact: Promise<unknown>) => Promise.race([fact, delay(ms, undefined, { ref: false })]);

  async function over(): Promise<void> {
    await exited;
    await within(DRAIN_MS, drained);
    signalGroup(child, "SIGKILL");
    for (const stream of child.stdio) stream?.destroy();
    onEnd();
  }
  const ended = over();

  return async () => {
    child.stdin.end();
    await within(GOODBYE_MS, exited);
    if (isRunning(child)) signalGroup(child, "SIGTERM");
    await within(TERMINATE_MS, exited);
    if (isRunning(child)) signalGroup(child, "SIGKILL");
    await ended;
  };
}

function isRunning({ exitCode, signalCode }: ChildProcessWithoutNullStreams): boolean {
  return exitCode === null && signalCode === null;
}

function signalGroup({ pid }: ChildProcessWithoutNullStreams, signal: NodeJS.Signals): void {
  if (pid === undefined) return;
  try {
    process.kill(-pid, signal);
  } catch (error) {
    if (!hasCode(error, "ESRCH", "EPERM")) throw error; // nobody is left, or somebody who changed his user
  }
}
