import type { HostedCommand } from "./command-host.ts";
import { type CommandOutput, createCommandOutput } from "./process/command-output.ts";
import { MAX_TIMER_MS } from "./process/run-process.ts";

/** What ended the wait for a command. */
export type Cause<T> =
  | { readonly type: "told"; readonly told: T }
  | { readonly type: "aborted" | "detached" | "overdue" }
  | { readonly type: "failure"; readonly error: unknown };

export interface FollowedCommand {
  readonly output: CommandOutput;
  /** How many bytes of the command's output have come so far. */
  readonly received: number;
  take(chunk: Uint8Array): void;
  /** Which comes first: what `told` says, or a reason not to wait for it. */
  wait<T>(told: Promise<T>): Promise<Cause<T>>;
}

/** The supervisor stops a command in time by itself, and gets this long to say so. */
const OVERDUE_MS = 10_000;

/** One caller's view of a command that runs elsewhere. */
export function followCommand(command: HostedCommand): FollowedCommand {
  const { signal, detach, timeout_ms, output_bytes, onOutput } = command;
  const output = createCommandOutput({ limitBytes: output_bytes, onOutput });
  const add = output.stream();
  const failed = Promise.withResolvers<Cause<never>>();
  let received = 0;

  return {
    output,
    get received() {
      return received;
    },
    take(chunk) {
      received += chunk.length;
      try {
        add(chunk);
      } catch (error) {
        failed.resolve({ type: "failure", error });
      }
    },
    async wait(told) {
      const { promise, resolve } = Promise.withResolvers<Cause<never>>();
      const onAbort = () => resolve({ type: "aborted" });
      const onDetach = () => resolve({ type: "detached" });
      if (signal.aborted) onAbort();
      else if (detach.aborted) onDetach();
      signal.addEventListener("abort", onAbort);
      detach.addEventListener("abort", onDetach);
      const timer = setTimeout(() => resolve({ type: "overdue" }), Math.min(timeout_ms + OVERDUE_MS, MAX_TIMER_MS));
      try {
        return await Promise.race([
          promise,
          failed.promise,
          told.then((line) => ({ type: "told" as const, told: line })),
        ]);
      } finally {
        clearTimeout(timer);
        signal.removeEventListener("abort", onAbort);
        detach.removeEventListener("abort", onDetach);
      }
    },
  };
}
