import type { CircuitBreaker, SandboxBackend, WorkspaceFile } from "@cognition/contract";

/**
 * Where the commands and file operations of one session happen. Every back end keeps what is promised here; the contract
 * suite in test/sandbox/sandbox-contract.ts holds each of them to it.
 */
export interface Sandbox {
  readonly session_id: string;
  readonly capabilities: SandboxCapabilities;
  /** The workspace folder as commands see it, an absolute path: `/workspace` where the sandbox has its own file tree. */
  readonly root: string;
  readonly files: SandboxFiles;

  /**
   * Runs one command in the workspace folder and resolves when it has ended and nothing it started is left: processes
   * that it put in the background are killed with its end.
   *
   * What the command came to is a result, also when it could not be found (127), was not executable (126), failed, or
   * ran out of time (`timed_out`). Rejects with `limit_exceeded` when it was stopped for what it wrote into the workspace,
   * with the signal's reason after an abort, and with `outcome_unknown` where
   * processes could not be killed; both no later than 2 s after the abort or the end of the time, and the first
   * only when the whole process tree is dead. Rejects before anything runs with `not_supported` (syntax that needs a
   * shell, where `capabilities.shell` is false), `forbidden` (names a protected path), `validation_failed`,
   * `already_exists` (`id` is another command's).
   */
  execute(command: string, options?: ExecuteOptions): Promise<ExecuteResult>;

  /** The commands that run now and are waited for, oldest first. */
  running(): readonly RunningCommand[];

  /** Whether a command of this id runs or has ended and is not forgotten: of this process or one before it on this host. */
  knows(id: string): Promise<boolean>;

  /**
   * Kills the command with this id, all of it within 2 s, and forgets it: one that is not waited for in this process. Rejects
   * with `outcome_unknown` where processes could not be killed. Does nothing where there is none.
   */
  stop(id: string): Promise<void>;

  /** The result of the command with this id is kept elsewhere now. Does nothing where there is none. */
  forget(id: string): Promise<void>;
}

export interface ExecuteOptions {
  /** Less than the sandbox's own limit shortens it; more is cut to it. */
  readonly timeout_ms?: number;
  readonly signal?: AbortSignal;
  /** Added to the clean environment that each command gets. The server's own environment is never passed on. */
  readonly env?: Readonly<Record<string, string>>;
  /** Without it the command reads an empty input. */
  readonly stdin?: string | Uint8Array;
  /**
   * Is handed the output while the command runs, in whole characters, and in the end exactly what `output` holds. It
   * must not throw; if it does, the command is killed and `execute` rejects with that error.
   */
  readonly onOutput?: (text: string) => void;
  /**
   * Lets go of a command that has an `id`: `execute` rejects with the signal's reason and the command goes on, to be found
   * again by this process or the next. One without an id is killed.
   */
  readonly detach?: AbortSignal;
  /**
   * Names the command. The same command under the same id again is not run again: its output is handed over from its
   * first word and its result is the same, whether it still runs or has ended, until it is forgotten or was aborted.
   */
  readonly id?: string;
}

export interface ExecuteResult {
  readonly id: string;
  /** Standard output and standard error, in the order in which they arrived; where cut, its last line says so. */
  readonly output: string;
  /** 128 + n after signal n; null when the time ran out. */
  readonly exit_code: number | null;
  readonly truncated: boolean;
  readonly timed_out: boolean;
  readonly duration_ms: number;
}

export interface RunningCommand {
  readonly id: string;
  readonly command: string;
  readonly started_at: string;
}

/** What a sandbox can do, for tools to say it to the model and for health. */
export interface SandboxCapabilities {
  readonly backend: SandboxBackend;
  /** Whether a command is read by a shell, with pipes, redirections and expansions. */
  readonly shell: boolean;
  /** `engine`: a network of the container engine's, as configured. */
  readonly network: "none" | "host" | "engine";
  /** `none`: a command can do whatever the server's user can. */
  readonly isolation: "none" | "namespaces" | "container";
}

/**
 * The files of the workspace. A path is relative to it, or absolute and below `Sandbox.root`; results are relative, with
 * `/` between their parts, sorted by path.
 *
 * No path leads out: `..` beyond the root, an absolute path elsewhere and a symbolic link that leaves are refused with
 * `workspace_path_refused`, also when something changes the folders during the operation. Links that stay inside are
 * followed. A protected path cannot be written or deleted, a hidden one not be read either: `forbidden`. What is not
 * there is `file_not_found`, a folder in the place of a file or the reverse `validation_failed`, anything but a
 * regular file (a pipe, a device) is refused without being opened for long.
 */
export interface SandboxFiles {
  /** Rejects with `content_too_large` above the limit, having read nothing. */
  read(path: string): Promise<Uint8Array>;
  /** A file of any size, to be read piece by piece. Whoever opened it closes it. */
  open(path: string): Promise<OpenFile>;
  /** What `read` gives as text; bytes that are not UTF-8 are `validation_failed`. A byte order mark stays. */
  readText(path: string): Promise<string>;
  /** Replaces the file as a whole or not at all, keeps its mode, and makes the folders above it. */
  write(path: string, content: string | Uint8Array): Promise<WorkspaceFile>;
  /**
   * Puts `new_text` in the place of `old_text`, which must occur exactly once unless `replace_all` is set; otherwise
   * `validation_failed`, and the file is as it was. Edits and writes through this server happen one after another.
   */
  edit(path: string, change: FileEdit): Promise<{ readonly replaced: number }>;
  /** The entries of one folder. */
  ls(path?: string): Promise<WorkspaceFile[]>;
  /**
   * Regular files whose path below `path` matches: `*` and `?` within a name, `**` across folders, `[a-z]`, `{a,b}`. A
   * pattern without `/` matches names at any depth. Symbolic links to folders are not entered.
   */
  glob(pattern: string, options?: SearchOptions): Promise<FileSearch>;
  /**
   * Lines that contain `text` as it is (no pattern: a model's pattern could keep the server busy for hours). `path` may be
   * a file.
   */
  grep(text: string, options?: GrepOptions): Promise<GrepSearch>;
  /**
   * A folder with all that is in it; a link itself, not what it leads to. The root stays, and so does a folder that holds
   * a protected path.
   */
  delete(path: string): Promise<void>;
  stat(path: string): Promise<WorkspaceFile>;
  exists(path: string): Promise<boolean>;
}

export interface OpenFile {
  /** When it was opened: no more is read, and less if it has become shorter. */
  readonly size: number;
  readonly executable: boolean;
  /** The next piece; undefined after the last. */
  read(): Promise<Uint8Array | undefined>;
  close(): Promise<void>;
}

export interface FileEdit {
  readonly old_text: string;
  readonly new_text: string;
  readonly replace_all?: boolean;
}

export interface SearchOptions {
  /** The folder to search below; the root by default. */
  readonly path?: string;
  readonly limit?: number;
  readonly signal?: AbortSignal;
}

export interface GrepOptions extends SearchOptions {
  /** Only files that match, as in `glob`. */
  readonly glob?: string;
}

export interface FileSearch {
  readonly files: readonly WorkspaceFile[];
  /** Whether the limit left some out. */
  readonly truncated: boolean;
}

export interface GrepMatch {
  readonly path: string;
  /** From 1. */
  readonly line: number;
  /** Its first 2,000 characters. */
  readonly text: string;
}

export interface GrepSearch {
  readonly matches: readonly GrepMatch[];
  readonly truncated: boolean;
}

/** The sandboxes of one server, all of one back end. */
export interface Sandboxes {
  /**
   * `workspace` is an existing folder, absolute. The same session and folder again gives the same sandbox. Makes nothing
   * that `remove` does not take away.
   */
  open(session_id: string, workspace: string): Promise<Sandbox>;
  /** Kills what the session still runs and takes away what was made for it (a container); never the workspace. */
  remove(session_id: string): Promise<void>;
  /** Commands with an id that run on this host now. None where the back end can't tell. */
  left(): readonly LeftCommand[];
  /**
   * Kills what runs; `execute` then rejects with `aborted`. With `leave`, commands that have an id go on by themselves, for
   * the next process to find. Nothing can be opened or run afterwards.
   */
  close(options?: { readonly leave?: boolean }): Promise<void>;
  describe(): SandboxDescription;
}

export interface LeftCommand {
  readonly session_id: string;
  readonly id: string;
  isRunning(): boolean;
  /** As a sandbox's `stop`. */
  stop(): Promise<void>;
}

export type LimitName =
  | "time"
  | "output"
  | "processes"
  | "memory"
  | "cpu"
  | "file_size"
  | "temporary_files"
  | "workspace";

export interface SandboxLimit {
  /** In words, with its unit. */
  readonly value: string;
  /** What enforces it; null where nothing on this machine does. */
  readonly enforced_by: string | null;
}

/** For health and for `cognition doctor`. */
export interface SandboxDescription {
  readonly backend: SandboxBackend;
  readonly capabilities: SandboxCapabilities;
  readonly limits: Readonly<Partial<Record<LimitName, SandboxLimit>>>;
  /** The services it depends on, by name. */
  readonly circuit_breakers: Readonly<Record<string, CircuitBreaker>>;
  /** What a person should know: limits that are not enforced, isolation that is not there. */
  readonly warnings: readonly string[];
}
