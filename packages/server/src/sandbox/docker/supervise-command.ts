import { setTimeout as delay } from "node:timers/promises";
import { AppError, isAppError } from "@cognition/contract";
import type { Container } from "dockerode";
import type { CommandEnd, HostedCommand } from "../command-host.ts";
import type { Cause, FollowedCommand } from "../follow-command.ts";
import { startMark } from "../process/process-tree.ts";
import {
  type CommandNote,
  type ContainerCall,
  callContainer,
  type EndTold,
  startCall,
  type Told,
} from "./container-call.ts";
import { type DockerEngine, EngineRefusal } from "./docker-engine.ts";

export interface CommandScene {
  readonly engine: DockerEngine;
  readonly inside: Container;
  /** The command's folder in the container. */
  readonly name: string;
  readonly command: HostedCommand;
  readonly follow: FollowedCommand;
}

/** Together less than the 2 s in which an aborted command must be dead. The second is for when the first could not begin. */
const ABORT_MS = 1_300;
const KILL_MS = 600;
const KILLED = 137;

export function runArguments(command: HostedCommand, note: CommandNote, forget: readonly string[]): string[] {
  const variables = Object.entries(command.env).map(([name, value]) => `${name}=${value}`);
  const seconds = (command.timeout_ms / 1000).toFixed(3);
  const keep = command.named ? "yes" : "no";
  const limits = [`${startMark()}`, seconds, `${command.output_bytes}`];
  return [...limits, keep, JSON.stringify(note), forget.join(" "), ...variables, "/bin/sh", "-c", command.command];
}

/** Follows the command to its end. Undefined if its name was taken, and nothing was run. */
export async function superviseCommand(scene: CommandScene, call: ContainerCall): Promise<CommandEnd | undefined> {
  const { engine, inside, command, follow } = scene;
  // It may run already, under its name: then the abort is for that.
  if (command.signal.aborted && command.named) await killCommand(scene);
  command.signal.throwIfAborted();
  const started = await startCall(engine, inside, { ...call, onOutput: follow.take });
  const cause = await follow.wait(started.told);
  if (cause.type !== "told") {
    started.drop();
    return giveUp(scene, cause);
  }
  const end = cause.told.find((line) => line.type === "end");
  if (end) return report(scene, end);
  if (cause.told.some(({ type }) => type === "taken")) return undefined;
  if (call.action === "run" && !cause.told.some(({ type }) => type === "begun")) throw notBegun(follow);
  return call.action === "run" ? findAgain(scene) : endKilled(scene);
}

/** The connection ended before the command did: the command may still run, or the supervisor was killed, or all of it. */
async function findAgain(scene: CommandScene): Promise<CommandEnd | undefined> {
  const { name, follow } = scene;
  try {
    return await superviseCommand(scene, { action: "attach", name, args: [`${follow.received}`] });
  } catch (error) {
    if (error instanceof EngineRefusal) return endKilled(scene);
    if (!isAppError(error, "sandbox_unavailable", "circuit_open")) throw error;
    throw new AppError(
      "outcome_unknown",
      "The connection to the Docker engine was lost while the command ran. Whether it goes on is not known.",
      { cause: error },
    );
  }
}

async function endKilled(scene: CommandScene): Promise<CommandEnd> {
  const note = "\n[the command was killed from outside or by the system, most likely for the memory it used]";
  scene.follow.take(new TextEncoder().encode(note));
  await killCommand(scene);
  return report(scene, { type: "end", exit_code: KILLED, left: 0, timed_out: false, dropped: 0 });
}

async function giveUp(scene: CommandScene, cause: Exclude<Cause<unknown>, { type: "told" }>): Promise<CommandEnd> {
  const { signal, detach, named } = scene.command;
  if (cause.type === "detached" && named) throw detach.reason;
  await killCommand(scene);
  if (cause.type === "detached") throw detach.reason;
  if (cause.type === "aborted") throw signal.reason;
  if (cause.type === "failure") throw cause.error;
  return report(scene, { type: "end", exit_code: KILLED, left: 0, timed_out: true, dropped: 0 });
}

export async function killCommand(scene: Pick<CommandScene, "engine" | "inside" | "name">): Promise<void> {
  const tries = [
    ["abort", ABORT_MS],
    ["kill", KILL_MS],
  ] as const;
  for (const [action, withinMs] of tries) {
    const told = await Promise.race([tryKill(scene, action), delay(withinMs, undefined, { ref: false })]);
    if (told === "gone" || told?.some((line) => line.type === "stopped" && line.left === 0)) return;
  }
  throw leftovers();
}

async function tryKill({ engine, inside, name }: Parameters<typeof killCommand>[0], action: "abort" | "kill") {
  try {
    return await callContainer(engine, inside, { action, name });
  } catch (error) {
    // Without its container no process of it is left.
    if (error instanceof EngineRefusal) return "gone" as const;
    if (isAppError(error, "sandbox_unavailable", "circuit_open")) return [] as readonly Told[];
    throw error;
  }
}

function report({ follow }: CommandScene, { exit_code, timed_out, dropped, left }: EndTold): CommandEnd {
  if (left !== 0) throw leftovers();
  const { output, truncated } = follow.output.end(dropped);
  return { output, truncated, timed_out, exit_code: timed_out ? null : exit_code, duration_ms: 0 };
}

function leftovers(): AppError {
  return new AppError(
    "outcome_unknown",
    "The command was stopped, but what it started in the container could not be killed. What that still does is not known; removing the session ends it.",
  );
}

function notBegun(follow: FollowedCommand): AppError {
  const { output } = follow.output.end();
  const reason = output.trim() || "no reason was given";
  return new AppError(
    "sandbox_unavailable",
    `The session's container could not start a process: ${reason}. Nothing was run; end what fills the container, or remove it with its session.`,
    { details: { backend: "docker" } },
  );
}
