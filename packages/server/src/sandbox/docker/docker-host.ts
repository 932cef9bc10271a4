import { AppError } from "@cognition/contract";
import type { Container } from "dockerode";
import type { CommandEnd, CommandHost, HostedCommand } from "../command-host.ts";
import { digestOf } from "../digest.ts";
import { followCommand } from "../follow-command.ts";
import { idInUse } from "../id-in-use.ts";
import { type CommandNote, callContainer } from "./container-call.ts";
import { type DockerEngine, EngineRefusal } from "./docker-engine.ts";
import type { SessionContainer } from "./session-container.ts";
import { killCommand, runArguments, superviseCommand } from "./supervise-command.ts";

export interface DockerHostOptions {
  readonly engine: DockerEngine;
  readonly container: SessionContainer;
  /** The most that is kept of a command's output here. */
  readonly output_bytes: number;
  readonly now: () => number;
}

/** Runs commands in the session's container, under the script that supervises them there. */
export function createDockerHost({ engine, container, output_bytes, now }: DockerHostOptions): CommandHost {
  /** Told to the container with its next command: a call of its own takes as long as a command. */
  const forgotten = new Set<string>();

  async function run(inside: Container, command: HostedCommand): Promise<CommandEnd> {
    const name = spoolName(command.id);
    const note: CommandNote = { id: command.id, digest: digestOf(command.command), started_ms: now() };
    const scene = { engine, inside, name, command, follow: followCommand(command) };
    const forget = [...forgotten];
    const args = runArguments(command, note, forget);
    const end = await superviseCommand(scene, { action: "run", name, args, stdin: command.stdin });
    for (const each of forget) forgotten.delete(each);
    if (end) return toEnd(end, now() - note.started_ms);
    const first = await findNote(inside, command.id);
    if (first?.digest !== note.digest) throw idInUse(command.id);
    const again = await superviseCommand(scene, { action: "attach", name, args: ["0"] });
    if (!again) throw idInUse(command.id);
    return toEnd(again, now() - first.started_ms);
  }

  async function listNotes(inside: Container): Promise<CommandNote[]> {
    const told = await callContainer(engine, inside, { action: "list", name: "." });
    return told.flatMap((line) => (line.type === "command" ? line.about : []));
  }

  async function findNote(inside: Container, id: string): Promise<CommandNote | undefined> {
    return (await listNotes(inside)).find((note) => note.id === id);
  }

  return {
    async run(asked) {
      const command = { ...asked, output_bytes: Math.min(asked.output_bytes, output_bytes) };
      try {
        return await container.use((inside) => run(inside, command));
      } catch (error) {
        if (!(error instanceof EngineRefusal)) throw error;
        // Stopped or removed behind our back, before anything ran in it.
        container.lose();
        return container.use((inside) => run(inside, command)).catch(throwUnavailable);
      }
    },
    async knows(id) {
      if (forgotten.has(spoolName(id))) return false;
      return (await container.useExisting((inside) => findNote(inside, id))) !== undefined;
    },
    async stop(id) {
      await container.useExisting((inside) => killCommand({ engine, inside, name: spoolName(id) }));
    },
    forget: async (id) => void forgotten.add(spoolName(id)),
    async close() {
      container.close();
      const names = [...forgotten];
      if (names.length > 0)
        await container.useExisting((inside) =>
          callContainer(engine, inside, { action: "forget", name: ".", args: names }),
        );
      if (!(await container.isNeeded())) await container.remove();
    },
  };
}

function spoolName(id: string): string {
  return digestOf(id).slice(0, 32);
}

function toEnd(end: CommandEnd, duration: number): CommandEnd {
  return { ...end, duration_ms: Math.max(0, Math.round(duration)) };
}

function throwUnavailable(cause: unknown): never {
  if (!(cause instanceof EngineRefusal)) throw cause;
  throw new AppError(
    "sandbox_unavailable",
    `The session's container does not take commands: ${cause.message}. Nothing was run.`,
    { details: { backend: "docker" }, cause },
  );
}
