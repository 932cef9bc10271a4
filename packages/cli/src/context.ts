import type { EventEmitter } from "node:events";
import type { ReadStream, WriteStream } from "node:tty";

/** What a command has of the world. */
export interface Context {
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly cwd: string;
  /** Undefined for a user whom the system does not know, as in many containers. */
  readonly home: string | undefined;
  readonly input: NodeJS.ReadStream & { isTTY?: ReadStream["isTTY"] };
  readonly output: NodeJS.WriteStream & { isTTY?: WriteStream["isTTY"] };
  readonly errors: NodeJS.WriteStream;
  /** Of SIGINT, SIGTERM and SIGHUP, and of what was thrown where nobody caught it. */
  readonly signals: Pick<EventEmitter, "on" | "off">;
  /** Ends the process on the spot. */
  readonly exit: (code: number) => void;
}
