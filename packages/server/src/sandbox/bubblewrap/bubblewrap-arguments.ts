import { existsSync, lstatSync, readlinkSync } from "node:fs";
import { INSIDE, type Workspace } from "../backend.ts";
import { protectedMounts } from "./protected-mounts.ts";

export interface IsolationOptions {
  readonly temporary_bytes: number;
  /** Whether this bwrap can forbid further user namespaces inside (0.8 and later). */
  readonly disableUserns: boolean;
}

/** Either links into /usr or folders of their own, by distribution. */
const SYSTEM = ["/usr", "/bin", "/sbin", "/lib", "/lib32", "/lib64", "/libx32"];
/**
 * What programs need to start, and no secret: under a server run by root a command reads whatever root may, and the whole of
 * /etc would show it the password hashes, the whole of /etc/ssl and /etc/pki the machine's private keys.
 */
const SETTINGS = [
  "alternatives",
  "ca-certificates",
  "ld.so.cache",
  "ld.so.conf",
  "ld.so.conf.d",
  "localtime",
  "mime.types",
  ...["pki/ca-trust", "pki/java", "pki/tls/cert.pem", "pki/tls/certs", "pki/tls/openssl.cnf"],
  ...["ssl/cert.pem", "ssl/certs", "ssl/openssl.cnf"],
];
/** What the kernel tells about the whole machine. */
const KERNEL = ["kcore", "keys", "kmsg", "latency_stats", "sched_debug", "sysrq-trigger", "timer_list", "timer_stats"];

/** The user that commands run as. Files they make belong, outside, to the server's user. */
export const SANDBOX_USER = { uid: 1000, gid: 1000, name: "agent" };
/** Read from descriptors 3 and 4, in this order. */
export const USER_FILES = [
  `${SANDBOX_USER.name}:x:${SANDBOX_USER.uid}:${SANDBOX_USER.gid}::${INSIDE}:/bin/sh\n`,
  `${SANDBOX_USER.name}:x:${SANDBOX_USER.gid}:\n`,
];

/** The order counts: what is mounted later lies above. */
export function bubblewrapArguments(workspace: Workspace, options: IsolationOptions): string[] {
  return [
    ...namespaces(options),
    ...systemMounts(options),
    ...["--bind", workspace.folder, INSIDE],
    ...protectedMounts(workspace),
    // The root is a file system in memory without a size; like /dev, it would be a place to fill the machine's memory. And
    // for a server run by root the kernel takes the user inside for root, too: its settings in /proc/sys could be changed.
    ...["/proc", "/dev", "/"].flatMap((path) => ["--remount-ro", path]),
    ...["--chdir", INSIDE],
  ];
}

function namespaces({ disableUserns }: IsolationOptions): string[] {
  const { uid, gid } = SANDBOX_USER;
  return [
    ...["--unshare-user", "--unshare-pid", "--unshare-ipc", "--unshare-uts", "--unshare-cgroup-try", "--unshare-net"],
    ...(disableUserns ? ["--disable-userns"] : []),
    // A session of its own, or a command could type into the terminal that the server was started from.
    ...["--die-with-parent", "--new-session", "--cap-drop", "ALL", "--clearenv"],
    ...["--uid", `${uid}`, "--gid", `${gid}`, "--hostname", "sandbox"],
  ];
}

function systemMounts({ temporary_bytes }: IsolationOptions): string[] {
  const size = ["--size", `${temporary_bytes}`];
  return [
    ...SYSTEM.flatMap(mountSystem),
    ...SETTINGS.flatMap((name) => ["--ro-bind-try", `/etc/${name}`, `/etc/${name}`]),
    ...["--ro-bind-data", "3", "/etc/passwd", "--ro-bind-data", "4", "/etc/group"],
    ...["--proc", "/proc", "--dev", "/dev"],
    ...KERNEL.filter((name) => existsSync(`/proc/${name}`)).flatMap((name) => [
      "--ro-bind",
      "/dev/null",
      `/proc/${name}`,
    ]),
    ...[...size, "--tmpfs", "/dev/shm"],
    ...[...size, "--perms", "1777", "--tmpfs", "/tmp"],
  ];
}

function mountSystem(path: string): string[] {
  const stats = lstatSync(path, { throwIfNoEntry: false });
  if (!stats) return [];
  return stats.isSymbolicLink() ? ["--symlink", readlinkSync(path), path] : ["--ro-bind", path, path];
}
