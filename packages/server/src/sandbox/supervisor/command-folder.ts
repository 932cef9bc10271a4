import { randomUUID } from "node:crypto";
import { existsSync, mkdirSync, readFileSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { hostname } from "node:os";
import { join } from "node:path";
import { hasCode } from "../../file/error-text.ts";
import { digestOf } from "../digest.ts";
import { findProcess } from "../process/process-table.ts";

/** A process and the moment it began, since numbers of processes are used again. */
export interface ProcessIdentity {
  readonly pid: number;
  /** In clock ticks since boot; 0 where the system does not tell. */
  readonly started: number;
}

/** What is known of a command before it starts. */
export interface CommandNote {
  readonly id: string;
  /** Not in notes of earlier releases. */
  readonly session_id?: string;
  readonly digest: string;
  readonly started_ms: number;
  /** The machine: the processes of another one cannot be looked at. */
  readonly host: string;
  readonly supervisor: ProcessIdentity;
  readonly mark: number | undefined;
  readonly cgroup: readonly string[] | undefined;
}

/** How it came out. */
export type CommandOutcome =
  | {
      readonly exit_code: number | null;
      readonly timed_out: boolean;
      readonly truncated: boolean;
      readonly duration_ms: number;
    }
  | { readonly error: string; readonly code: string };

/** Who made the folder, and has not written its note yet. */
interface Claimant extends ProcessIdentity {
  readonly host: string;
}

const FILES = {
  claimant: "claimant.json",
  note: "about.json",
  process: "process.json",
  output: "output",
  outcome: "end.json",
} as const;

/** What a command leaves on the disk: written by its supervisor, read by whichever server follows it. */
export interface CommandFolder {
  readonly path: string;
  readonly output: string;
  /** False if it is there already: of all who ask, one gets it. What a claimant left who died before its note nobody has. */
  claim(): boolean;
  isThere(): boolean;
  writeNote(note: CommandNote): void;
  note(): CommandNote | undefined;
  writeProcess(process: ProcessIdentity): void;
  process(): ProcessIdentity | undefined;
  writeOutcome(outcome: CommandOutcome): void;
  outcome(): CommandOutcome | undefined;
  remove(): void;
}

export function commandFolder(path: string): CommandFolder {
  const file = (name: keyof typeof FILES) => join(path, FILES[name]);
  const write = (name: keyof typeof FILES, value: object) => writeFileSync(file(name), `${JSON.stringify(value)}\n`);
  return {
    path,
    output: file("output"),
    claim: () => claim(path),
    isThere: () => existsSync(path),
    writeNote: (note) => write("note", note),
    note: () => read<CommandNote>(file("note")),
    writeProcess: (identity) => write("process", identity),
    process: () => read<ProcessIdentity>(file("process")),
    writeOutcome: (outcome) => write("outcome", outcome),
    outcome: () => read<CommandOutcome>(file("outcome")),
    remove: () => rmSync(path, { recursive: true, force: true }),
  };
}

/** Where the commands of a session have their folders. */
export function sessionFolder(state: string, session_id: string): string {
  return join(state, digestOf(session_id).slice(0, 32));
}

export function folderOf(state: string, session_id: string, id: string): CommandFolder {
  return commandFolder(join(sessionFolder(state, session_id), digestOf(id).slice(0, 32)));
}

export function identityOf(pid: number): ProcessIdentity {
  return { pid, started: findProcess(pid)?.started ?? 0 };
}

export function isAlive({ pid, started }: ProcessIdentity): boolean {
  if (process.platform !== "linux") return canSignal(pid);
  const entry = findProcess(pid);
  return entry !== undefined && !entry.dead && entry.started === started;
}

function canSignal(pid: number): boolean {
  try {
    return process.kill(pid, 0);
  } catch (error) {
    return hasCode(error, "EPERM");
  }
}

/** The folder comes with its claimant's name in it: who is killed in between leaves nothing that stands in another's way. */
function claim(path: string): boolean {
  const own = `${path}.${randomUUID()}`;
  mkdirSync(own, { recursive: true, mode: 0o700 });
  const claimant: Claimant = { ...identityOf(process.pid), host: hostname() };
  writeFileSync(join(own, FILES.claimant), `${JSON.stringify(claimant)}\n`);
  if (take(own, path)) return true;
  if (isLeft(path)) {
    // Only whoever has the lease of the call's run asks for it, so nobody else takes it over meanwhile.
    rmSync(path, { recursive: true, force: true });
    if (take(own, path)) return true;
  }
  rmSync(own, { recursive: true, force: true });
  return false;
}

/** In one step: a folder with something in it is never replaced. */
function take(own: string, path: string): boolean {
  try {
    renameSync(own, path);
    return true;
  } catch (error) {
    if (!hasCode(error, "EEXIST", "ENOTEMPTY")) throw error;
    return false;
  }
}

function isLeft(path: string): boolean {
  if (read(join(path, FILES.note))) return false;
  const claimant = read<Claimant>(join(path, FILES.claimant));
  return !claimant || (claimant.host === hostname() && !isAlive(claimant));
}

/** Undefined too while it is being written: each file is one line, whole when it ends with a newline. */
function read<T>(file: string): T | undefined {
  try {
    const text = readFileSync(file, "utf8");
    return text.endsWith("\n") ? (JSON.parse(text) as T) : undefined;
  } catch (error) {
    if (!hasCode(error, "ENOENT")) throw error;
    return undefined;
  }
}
