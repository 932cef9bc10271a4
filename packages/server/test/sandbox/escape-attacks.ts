import type { SandboxBackend } from "@cognition/contract";

/** What an attack may know of the place: a capable attacker would find it out. */
export interface Target {
  /** A folder beside the workspace, with a file `private` that only the server's user may read. */
  readonly outside: string;
  /** The workspace of another session, with a file `notes`. */
  readonly other: string;
  /** The server's database, outside the workspace. */
  readonly database: string;
  /** A process of the server's user with SECRET in its environment, which stands for the server. */
  readonly serverPid: number;
  /** A service on loopback that says "reached". */
  readonly port: number;
}

export interface Attack {
  readonly name: string;
  /** A shell script that runs in the workspace. It prints SUCCEEDED if and only if the attack did. Bounded, whatever happens. */
  readonly script: (target: Target) => string;
  /** Whether it works without a sandbox depends on the machine: on who runs the tests, and in what container. */
  readonly privileged?: boolean;
  /** Which back ends promise to stop it. */
  readonly heldBy: readonly SandboxBackend[];
}

/** How much a hog takes, and what the suite allows: far less than any machine has. */
const HOG = { processes: 120, memory: 96 * 1024 * 1024, disk: 24 * 1024 * 1024 };
export const ALLOWED = {
  processes: 40,
  memory: 40 * 1024 * 1024,
  disk: 8 * 1024 * 1024,
  workspace: 48 * 1024 * 1024,
};

const ALL = ["local", "bubblewrap", "docker"] as const;
const ISOLATED = ["bubblewrap", "docker"] as const;

const shows = (command: string, text: string) => `${command} 2>/dev/null | grep -q '${text}' && echo SUCCEEDED`;
const works = (command: string) => `(${command}) 2>/dev/null && echo SUCCEEDED`;
/** Writes what is there already, so that nothing changes where it works. */
const rewrites = (file: string) => works(`test -e ${file} && value=$(cat ${file}) && echo "$value" > ${file}`);
const fills = (file: string) =>
  `head -c ${HOG.disk} /dev/zero > ${file} 2>/dev/null; size=$(wc -c < ${file}); rm -f ${file}; [ "$size" = ${HOG.disk} ] && echo SUCCEEDED`;

export const ATTACKS: readonly Attack[] = [
  { name: "read /etc/shadow", privileged: true, heldBy: ISOLATED, script: () => shows("cat /etc/shadow", "root:") },
  {
    name: "list the machine's private keys",
    privileged: true,
    heldBy: ISOLATED,
    script: () => works("ls /etc/ssl/private || ls /etc/pki/tls/private"),
  },
  {
    name: "read a private file of the server's user",
    heldBy: ISOLATED,
    script: ({ outside }) => shows(`cat ${outside}/private`, "private"),
  },
  {
    name: "read another session's workspace",
    heldBy: ISOLATED,
    script: ({ other }) => shows(`cat ${other}/notes`, "notes"),
  },
  {
    name: "write into another session's workspace",
    heldBy: ISOLATED,
    script: ({ other }) => works(`echo x > ${other}/planted`),
  },
  {
    name: "read the server's environment",
    heldBy: ISOLATED,
    script: () => shows("cat /proc/[0-9]*/environ", "SECRET=for-the-server-alone"),
  },
  { name: "read the environment a command gets", heldBy: ALL, script: () => shows("env", "SECRET=") },
  {
    name: "read the server's database",
    heldBy: ISOLATED,
    script: ({ database }) => shows(`cat ${database}`, "database"),
  },
  {
    name: "read the database in the workspace",
    heldBy: ISOLATED,
    script: () => shows("cat .cog*/state.db", "database"),
  },
  {
    name: "plant a tool for the server to load",
    heldBy: ISOLATED,
    script: () => works("cd .cog* && echo evil > evil.ts"),
  },
  { name: "leave by ..", heldBy: ISOLATED, script: () => shows("cat ../outside/private", "private") },
  {
    name: "leave by a symbolic link",
    heldBy: ISOLATED,
    script: ({ outside }) => `ln -sf ${outside} way; ${shows("cat way/private", "private")}`,
  },
  { name: "fork bomb", heldBy: ALL, script: () => forkBomb() },
  {
    name: "memory hog",
    heldBy: ISOLATED,
    script: () => shows(`head -c ${HOG.memory} /dev/zero | tail -c ${HOG.memory} | wc -c`, String(HOG.memory)),
  },
  { name: "fill the disk through /tmp", heldBy: ISOLATED, script: () => fills(`/tmp/hog-$$`) },
  { name: "fill the memory through /dev/shm", heldBy: ISOLATED, script: () => fills("/dev/shm/hog-$$") },
  { name: "fill the disk with one file of the workspace", heldBy: ISOLATED, script: () => fills("hog") },
  { name: "fill the disk with many files of the workspace", heldBy: ALL, script: () => manyFiles() },
  {
    name: "write to the root of the file system",
    privileged: true,
    heldBy: ISOLATED,
    script: () => works("mkdir /planted-$$ && rmdir /planted-$$"),
  },
  {
    name: "write to the system's programs",
    privileged: true,
    heldBy: ISOLATED,
    script: () => works("test -d /usr/bin && cd /usr/bin || cd /bin; touch planted-$$ && rm planted-$$"),
  },
  {
    name: "reach a service on loopback",
    heldBy: ISOLATED,
    script: ({ port }) =>
      shows(`(bash -c 'cat < /dev/tcp/127.0.0.1/${port}' || nc 127.0.0.1 ${port} < /dev/null)`, "reached"),
  },
  {
    name: "see the machine's network",
    privileged: true,
    heldBy: ISOLATED,
    script: () => `[ "$(tail -n +3 /proc/net/dev | wc -l)" -gt 1 ] && echo SUCCEEDED`,
  },
  {
    name: "become another user",
    privileged: true,
    heldBy: ISOLATED,
    script: () => shows("(setpriv --reuid=65534 --clear-groups id -u || su nobody -c 'id -u')", "65534"),
  },
  {
    name: "gain rights from a set-user-id program",
    privileged: true,
    heldBy: ISOLATED,
    script: () => shows("cat /proc/self/status", "NoNewPrivs:.0"),
  },
  {
    name: "make namespaces of its own",
    privileged: true,
    heldBy: ISOLATED,
    script: () => works("unshare --user --map-root-user true"),
  },
  {
    name: "mount",
    privileged: true,
    heldBy: ISOLATED,
    script: () => works("mkdir -p m && mount -t tmpfs none m && umount m"),
  },
  { name: "write to /proc/sys", privileged: true, heldBy: ISOLATED, script: () => rewrites("/proc/sys/vm/swappiness") },
  {
    name: "reach the kernel's emergency keys",
    privileged: true,
    heldBy: ISOLATED,
    script: () => works("test -w /proc/sysrq-trigger"),
  },
  {
    name: "write to /sys",
    privileged: true,
    heldBy: ISOLATED,
    script: () => rewrites("/sys/kernel/mm/transparent_hugepage/khugepaged/alloc_sleep_millisecs"),
  },
  { name: "signal the server", heldBy: ISOLATED, script: ({ serverPid }) => works(`kill -0 ${serverPid}`) },
];

/** Counts what lives at the same time. A shell that cannot fork ends, so the count is taken by an inner one. */
function forkBomb(): string {
  const inner = `i=0; while [ $i -lt ${HOG.processes} ]; do sleep 5 & i=$((i+1)); echo $i; done`;
  return `count=$(sh -c '${inner}' 2>/dev/null | tail -n 1); [ "$count" = ${HOG.processes} ] && echo SUCCEEDED`;
}

/** Each of them small enough, all together too much; slowly, as a compiler or a package manager would. */
function manyFiles(): string {
  // As slow as a machine under load is at noticing; where nobody looks it need not wait.
  const wait = '[ -z "$SECRET" ] && [ $i -gt 7 ] && sleep 1';
  const all = "1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 16";
  return `for i in ${all}; do head -c 6000000 /dev/zero > many-$i || exit; ${wait}; done; rm -f many-*; echo SUCCEEDED`;
}
