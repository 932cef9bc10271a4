import { type ChildProcess, spawn } from "node:child_process";
import { closeSync, mkdirSync, openSync } from "node:fs";
import { extname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { identityOf, type ProcessIdentity } from "./command-folder.ts";
import type { NewsMessage, RunMessage } from "./supervisor-message.ts";

/** This server's side of the process that its commands run under. */
export interface Supervisor {
  /** Starts one if none runs. */
  identity(): ProcessIdentity;
  run(message: RunMessage): void;
  /** Calls back when there may be something new in a command's folder; the return value ends that. */
  listen(folder: string, onNews: () => void): () => void;
  /** Lets go of it: it ends with its last command. */
  close(): void;
}

export interface SupervisorOptions {
  /** Where the commands have their folders. */
  readonly state: string;
  readonly path: string;
}

const EXTENSION = extname(import.meta.url);
const PROGRAM = fileURLToPath(new URL(`./supervisor-process${EXTENSION}`, import.meta.url));
const SOURCE_FLAGS = ["--conditions=cognition-source", "--disable-warning=ExperimentalWarning"];

export function createSupervisor({ state, path }: SupervisorOptions): Supervisor {
  const listeners = new Map<string, Set<() => void>>();
  let current: { readonly child: ChildProcess; readonly identity: ProcessIdentity } | undefined;

  function tell(folders: Iterable<string>): void {
    for (const folder of folders) for (const onNews of listeners.get(folder) ?? []) onNews();
  }

  function start(): NonNullable<typeof current> {
    mkdirSync(state, { recursive: true, mode: 0o700 });
    const log = openSync(join(state, "supervisor.log"), "w", 0o600);
    // In a session of its own, so that no signal to the server's group reaches it, and with nothing of the server's environment.
    const child = spawn(process.execPath, [...(EXTENSION === ".ts" ? SOURCE_FLAGS : []), PROGRAM], {
      detached: true,
      cwd: "/",
      env: { PATH: path },
      stdio: ["ignore", "ignore", log, "ipc"],
      serialization: "advanced",
    });
    closeSync(log);
    const started = { child, identity: identityOf(child.pid ?? 0) };
    const forget = () => {
      if (current === started) current = undefined;
      tell(listeners.keys());
    };
    child.on("message", (news) => tell([(news as NewsMessage).folder]));
    child.once("exit", forget).once("error", forget);
    // It must not keep the server from ending; a command that is followed does that by itself.
    child.unref();
    child.channel?.unref();
    return started;
  }

  const open = () => {
    current ??= start();
    return current;
  };

  return {
    identity: () => open().identity,
    run: (message) => {
      // A message that does not get through is noticed by the follower: no supervisor, no end.
      open().child.send(message, () => {});
    },
    listen(folder, onNews) {
      const set = listeners.get(folder) ?? new Set();
      listeners.set(folder, set.add(onNews));
      return () => {
        set.delete(onNews);
        if (set.size === 0) listeners.delete(folder);
      };
    },
    close: () => {
      if (current?.child.connected) current.child.disconnect();
    },
  };
}
