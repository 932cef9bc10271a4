import { once } from "node:events";
import { Writable } from "node:stream";
import type { Container } from "dockerode";
import { CONTAINER_SCRIPT } from "./container-script.ts";
import type { DockerEngine } from "./docker-engine.ts";

/** What is kept of a command beside its output, to know it again. */
export interface CommandNote {
  readonly id: string;
  /** Of the command's text. */
  readonly digest: string;
  readonly started_ms: number;
}

/** A line that the script tells the server. */
export type Told =
  | { readonly type: "begun" | "taken" | "none" | "lost" }
  | { readonly type: "about"; readonly about: CommandNote }
  | { readonly type: "command"; readonly running: boolean; readonly about: CommandNote }
  | { readonly type: "stopped"; readonly left: number }
  | EndTold;

export interface EndTold {
  readonly type: "end";
  readonly exit_code: number;
  /** Not 0: processes could not be killed. */
  readonly left: number;
  readonly timed_out: boolean;
  readonly dropped: number;
}

export interface ContainerCall {
  readonly action: "run" | "attach" | "abort" | "kill" | "forget" | "list";
  /** The folder of the command. */
  readonly name: string;
  readonly args?: readonly string[];
  readonly stdin?: string | Uint8Array | undefined;
  readonly onOutput?: (chunk: Uint8Array) => void;
}

export interface StartedCall {
  /** When the script has ended, or the connection. */
  readonly told: Promise<readonly Told[]>;
  drop(): void;
}

/** Runs the script in the container. Rejects when it cannot be started. */
export async function startCall(engine: DockerEngine, container: Container, call: ContainerCall): Promise<StartedCall> {
  const hasInput = call.stdin !== undefined;
  const stream = await engine.call("start a command", async () => {
    const exec = await container.exec({
      Cmd: ["/bin/sh", "-c", CONTAINER_SCRIPT, "cognition", call.action, call.name, ...(call.args ?? [])],
      AttachStdin: hasInput,
      AttachStdout: true,
      AttachStderr: true,
    });
    return exec.start({ hijack: true, stdin: hasInput });
  });
  let lines = "";
  const ended = Promise.race([once(stream, "end"), once(stream, "close")]);
  // A command need not read its input, and an engine may go away: what is missing then is the line that tells the end.
  stream.on("error", () => {});
  const err = sink((chunk) => {
    lines += Buffer.from(chunk).toString("utf8");
  });
  engine.docker.modem.demuxStream(stream, sink(call.onOutput ?? (() => {})), err);
  if (call.stdin !== undefined) stream.end(call.stdin);
  const told = ended.then(
    () => parseLines(lines),
    () => parseLines(lines),
  );
  return { told, drop: () => void stream.destroy() };
}

/** To its end. */
export async function callContainer(engine: DockerEngine, container: Container, call: ContainerCall) {
  return (await startCall(engine, container, call)).told;
}

function sink(take: (chunk: Uint8Array) => void): Writable {
  return new Writable({
    write: (chunk: Uint8Array, _encoding, done) => {
      take(chunk);
      done();
    },
  });
}

/** The shell may have words of its own in between, of processes that were killed. */
function parseLines(text: string): Told[] {
  return text.split("\n").flatMap((line) => (line.startsWith('{"type":') ? (JSON.parse(line) as Told) : []));
}
