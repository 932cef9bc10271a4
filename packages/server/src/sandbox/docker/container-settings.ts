import { createHash } from "node:crypto";
import { statSync } from "node:fs";
import { dirname } from "node:path";
import type { ContainerCreateOptions } from "dockerode";
import { type BackendLimits, INSIDE, type Workspace } from "../backend.ts";
import { containerMounts } from "./container-mounts.ts";
import { FIRST_PROCESS, SPOOL } from "./container-script.ts";
import { DEFAULT_IMAGE, DEFAULT_OWNER, type DockerOptions } from "./docker-options.ts";
import type { User } from "./workspace-owner.ts";

export const LABELS = {
  owner: "cognition.owner",
  session: "cognition.session",
  settings: "cognition.settings",
} as const;

const MIB = 1024 * 1024;
/** The output of 64 commands, which is what the script keeps, and some more; and where they may say a lot, that of some. */
const SPOOL_BYTES = 16 * MIB;
const SPOOLED_COMMANDS = 4;

/** Processes that are ours: the first one, and what stands around a command. */
const SUPERVISING = 16;

/** The same name from every process, so that two of them make one container and not two. */
export function containerName(owner: string, session_id: string): string {
  const digest = createHash("sha256")
    .update(JSON.stringify([owner, session_id]))
    .digest("hex");
  return `cognition-${digest.slice(0, 24)}`;
}

export interface ContainerRequest {
  readonly session_id: string;
  readonly workspace: Workspace;
  readonly user: User;
  readonly limits: BackendLimits;
  readonly docker: DockerOptions;
}

export function containerSettings(request: ContainerRequest): ContainerCreateOptions & { name: string } {
  const { session_id, workspace, user, limits, docker } = request;
  const { owner = DEFAULT_OWNER, image = DEFAULT_IMAGE, network = "none" } = docker;
  const settings: ContainerCreateOptions = {
    Image: image,
    Entrypoint: ["/bin/sh", "-c", FIRST_PROCESS],
    Cmd: [],
    User: `${user.uid}:${user.gid}`,
    WorkingDir: INSIDE,
    Hostname: "sandbox",
    Env: [`HOME=${INSIDE}`, "TMPDIR=/tmp", "TERM=dumb", "LANG=C.UTF-8", "USER=agent", "LOGNAME=agent"],
    HostConfig: {
      Mounts: containerMounts(workspace, docker.hostWorkspace),
      Tmpfs: temporaryFolders(user, limits),
      NetworkMode: network,
      ReadonlyRootfs: true,
      CapDrop: ["ALL"],
      SecurityOpt: ["no-new-privileges"],
      PidsLimit: limits.processes + SUPERVISING,
      Memory: limits.memory_bytes,
      // Equal to the memory: left out, the engine gives the same again as swap.
      MemorySwap: limits.memory_bytes,
      NanoCpus: Math.round(limits.cpus * 1e9),
      ShmSize: sharedBytes(limits),
      Ulimits: [
        { Name: "fsize", Soft: limits.file_bytes, Hard: limits.file_bytes },
        { Name: "core", Soft: 0, Hard: 0 },
      ],
      RestartPolicy: { Name: "no" },
    },
  };
  const described = JSON.stringify([settings, identityOf(workspace.folder)]);
  const digest = createHash("sha256").update(described).digest("hex").slice(0, 16);
  const labels = { [LABELS.owner]: owner, [LABELS.session]: session_id, [LABELS.settings]: digest };
  return { ...settings, Labels: labels, name: containerName(owner, session_id) };
}

/** A container goes on with the folder that it was made with, also when that was removed and another one has its name. */
function identityOf(folder: string): string {
  const { ino, dev, birthtimeMs } = statSync(folder);
  return `${ino}:${knowsBirths(dirname(folder), dev) ? birthtimeMs : ""}`;
}

/**
 * Where the file system knows no time of making, Node gives that of the last change for it, which every command would set. Of
 * the folder itself both may be the same; what it lies in has changed since it was made, with the folder.
 */
function knowsBirths(above: string, device: number): boolean {
  const { dev, birthtimeMs, ctimeMs } = statSync(above);
  if (dev !== device) return false;
  return birthtimeMs !== ctimeMs || (dirname(above) !== above && knowsBirths(dirname(above), device));
}

/**
 * Each with a size, and all of them together below the memory, to which their pages count: a full /tmp would otherwise leave
 * no room for another process, and every later command would be killed. A size in the mode's place: the mode is
 * ignored where the image has the folder, the owner is not. And `exec`, because engines forbid it by default.
 */
function temporaryFolders({ uid, gid }: User, limits: BackendLimits): Record<string, string> {
  const options = (size: number, exec: "exec" | "noexec") =>
    `rw,${exec},nosuid,nodev,size=${Math.floor(size)},uid=${uid},gid=${gid}`;
  return {
    "/tmp": options(temporaryBytes(limits), "exec"),
    "/home": options(sharedBytes(limits), "exec"),
    [SPOOL]: `${options(spoolBytes(limits), "noexec")},mode=700`,
  };
}

export function temporaryBytes({ temporary_bytes, memory_bytes }: BackendLimits): number {
  return Math.min(temporary_bytes, Math.floor(memory_bytes / 2));
}

function spoolBytes({ output_bytes, memory_bytes }: BackendLimits): number {
  return Math.min(Math.max(SPOOL_BYTES, SPOOLED_COMMANDS * output_bytes), Math.floor(memory_bytes / 8));
}

/** What is kept of a command's output has to fit into the container, with that of others: in a full one none could end. */
export function outputBytes(limits: BackendLimits): number {
  return Math.min(limits.output_bytes, Math.floor(spoolBytes(limits) / SPOOLED_COMMANDS));
}

function sharedBytes({ temporary_bytes, memory_bytes }: BackendLimits): number {
  return Math.min(64 * MIB, temporary_bytes, Math.floor(memory_bytes / 8));
}
