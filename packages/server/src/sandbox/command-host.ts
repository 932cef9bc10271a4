/** A command as a back end is handed it: checked, named, with its limits. */
export interface HostedCommand {
  readonly id: string;
  /** Whether the caller gave the id, and may come back for the command or for its result. */
  readonly named: boolean;
  readonly command: string;
  readonly timeout_ms: number;
  readonly output_bytes: number;
  readonly env: Readonly<Record<string, string>>;
  readonly stdin?: string | Uint8Array | undefined;
  readonly onOutput?: ((text: string) => void) | undefined;
  /** Kills it. */
  readonly signal: AbortSignal;
  /** Lets go of it: `run` rejects with the reason, and a named command goes on. */
  readonly detach: AbortSignal;
}

export interface CommandEnd {
  readonly output: string;
  readonly truncated: boolean;
  readonly exit_code: number | null;
  readonly timed_out: boolean;
  readonly duration_ms: number;
}

/** Where the commands of one session run. What `run` promises is written at `Sandbox.execute`. */
export interface CommandHost {
  /** Runs it; or follows it from its first word, if it runs already or has ended and is not forgotten. */
  run(command: HostedCommand): Promise<CommandEnd>;
  /** Whether it runs or has ended here, and is not forgotten. */
  knows(id: string): Promise<boolean>;
  /** Kills it if it runs, whoever started it, and forgets it. */
  stop(id: string): Promise<void>;
  /** Its output and its end are not needed any more. */
  forget(id: string): Promise<void>;
  /** Lets go of it; what still runs here goes on. */
  close(): Promise<void>;
}
